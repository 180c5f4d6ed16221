// A process that we started and that ends with its value.

internal import CLinux
internal import Glibc
internal import Synchronization

/// The children that values of `ChildProcess` or their successors wait for.
private let ownChildren = Mutex<Set<Int32>>([])
/// Of these, the ones that were killed and not buried.
private let killedChildren = Mutex<Set<Int32>>([])

/// How a child ended.
package enum ExitStatus: Hashable, Sendable {
  case exited(Int32)
  case signaled(Int32)
}

/// Owns a child process: killed and reaped when its value goes away, so that none outlives its purpose.
package struct ChildProcess: ~Copyable, Sendable {
  package let processID: Int32
  private var ending: ExitStatus?

  /// Starts `path` with our environment. The child has exactly the given descriptors, numbered from 0 (−1 stands for
  /// /dev/null), no blocked signals and no handlers; with `ownGroup` the terminal's signals do not reach it.
  package init(
    path: String, arguments: [String], descriptors: [Int32], ownGroup: Bool
  ) throws(Errno) {
    var vector: [UnsafeMutablePointer<CChar>?] = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe vector.forEach { unsafe free($0) } }
    let child: Int32 = try systemCall {
      unsafe vector.withUnsafeMutableBufferPointer { vector in
        unsafe clinux_spawn(path, vector.baseAddress, descriptors, Int32(descriptors.count), ownGroup)
      }
    }
    ownChildren.withLock { _ = $0.insert(child) }
    processID = child
  }

  /// A copy of this process that does nothing but the body; see `clinux_fork_worker`. Nil where we have several threads:
  /// what the others hold locked would stay locked in the copy.
  package init?(copyWithSocket socket: Int32, body: () -> Never) throws(Errno) {
    let own = try readPseudoFile("/proc/self/stat")
    guard ThreadStat(own.span)?.threads == 1 else { return nil }
    let child = try systemCall { clinux_fork_worker(socket) }
    if child == 0 { body() }
    ownChildren.withLock { _ = $0.insert(child) }
    processID = child
  }

  deinit {
    if ending == nil {
      _ = Glibc.kill(processID, SIGKILL)
      var status: Int32 = 0
      _ = try? systemCall { unsafe clinux_wait(processID, &status, true) }
    }
  }

  /// Gives up ownership: the child lives on.
  package consuming func release() -> Int32 {
    let processID = self.processID
    discard self
    return processID
  }

  /// Sends a signal, unless the child was already reaped and its number may belong to somebody else.
  package borrowing func signal(_ number: Int32) {
    if ending == nil { _ = Glibc.kill(processID, number) }
  }

  /// Kills a released child without waiting for its end, which can take long when it is blocked in the kernel. True
  /// if the end has come already; else `reap` it later.
  package static func kill(_ processID: Int32) -> Bool {
    _ = Glibc.kill(processID, SIGKILL)
    killedChildren.withLock { _ = $0.insert(processID) }
    return reap(processID)
  }

  /// True if the child has ended and nothing is left of it.
  package static func reap(_ processID: Int32) -> Bool {
    var status: Int32 = 0
    if (try? systemCall { unsafe clinux_wait(processID, &status, false) }) == 0 { return false }
    ownChildren.withLock { _ = $0.remove(processID) }
    killedChildren.withLock { _ = $0.remove(processID) }
    return true
  }

  /// Buries those that were killed and whose end had not come yet.
  package static func reapKilled() {
    for child in killedChildren.withLock({ $0 }) { _ = reap(child) }
  }

  /// For process 1, which the kernel makes the parent of all orphans: buries those that have ended. Stops at an ended
  /// child of our own, and goes on at the next call.
  package static func reapOrphans(except program: Int32) {
    while true {
      let child = clinux_any_ended_child()
      guard child > 0, child != program, !ownChildren.withLock({ $0.contains(child) }) else { return }
      var status: Int32 = 0
      _ = unsafe clinux_wait(child, &status, false)
    }
  }

  /// How the child ended; nil while it runs and `block` is false.
  package mutating func wait(block: Bool) throws(Errno) -> ExitStatus? {
    if let ending { return ending }
    var status: Int32 = 0
    let child = processID
    guard try systemCall({ unsafe clinux_wait(child, &status, block) }) == child else { return nil }
    let decoded = clinux_decode_status(status)
    ending = decoded.signaled ? .signaled(decoded.term_signal) : .exited(decoded.exit_status)
    return ending
  }
}

/// Both ends of a pipe, close-on-exec.
package struct Pipe: ~Copyable, Sendable {
  package let readEnd: FileDescriptor
  package let writeEnd: FileDescriptor

  package init() throws(Errno) {
    var ends: (Int32, Int32) = (-1, -1)
    _ = try systemCall {
      unsafe withUnsafeMutablePointer(to: &ends) {
        unsafe $0.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe clinux_pipe($0) }
      }
    }
    readEnd = FileDescriptor(owning: ends.0)
    writeEnd = FileDescriptor(owning: ends.1)
  }

  /// Keeps the read end; the write end is closed.
  package consuming func takeReadEnd() -> FileDescriptor { readEnd }

  /// Keeps the write end; the read end is closed.
  package consuming func takeWriteEnd() -> FileDescriptor { writeEnd }
}
