// Copying bytes out of another process.

internal import CLinux
internal import Glibc

/// The memory of the process that a thread belongs to. Named by thread, because a leader that has ended has none.
///
/// A read can block without end: a page may be served by another process (userfaultfd, FUSE) that never answers.
package struct ProcessMemory: Sendable {
  private let threadID: Int32
  private let isStoppedByUs: Bool

  /// Word by word costs about half a microsecond a word, and the thread stands still meanwhile.
  private static let mostBytesByPeeking = 16_384

  package init(ofThread threadID: Int32, isStoppedByUs: Bool = false) {
    self.threadID = threadID
    self.isStoppedByUs = isStoppedByUs
  }

  /// Copies up to `buffer.count` bytes and returns how many; less where the mapped memory ends.
  ///
  /// process_vm_readv can be refused (seccomp, Yama) where the other two ways are not.
  package func read(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    do {
      return try systemCall {
        unsafe clinux_process_vm_read(threadID, address, buffer.baseAddress, buffer.count)
      }
    } catch {
      guard error.meansNotAllowed || error == .notSupported else { throw error }
    }
    do {
      return try unsafe readFile(at: address, into: buffer)
    } catch {
      guard isStoppedByUs, !error.meansTaskGone else { throw error }
      return try unsafe peek(at: address, into: buffer)
    }
  }

  /// `/proc/TID/mem`.
  package func readFile(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    guard let offset = Int64(exactly: address) else { throw .badAddress }
    return try unsafe FileDescriptor.open("/proc/\(threadID)/mem").read(into: buffer, at: offset)
  }

  /// PTRACE_PEEKDATA, whole words only.
  package func peek(at address: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
    var done = 0
    while done &+ 8 <= min(buffer.count, ProcessMemory.mostBytesByPeeking) {
      var word: UInt64 = 0
      let source = address &+ UInt64(done)
      do {
        _ = try systemCall { unsafe clinux_ptrace_peek(threadID, source, &word) }
      } catch {
        if done == 0 { throw error }
        break
      }
      unsafe buffer.storeBytes(of: word, toByteOffset: done, as: UInt64.self)
      done += 8
    }
    return done
  }
}
