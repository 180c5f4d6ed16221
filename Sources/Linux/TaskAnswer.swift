// The memory in which the task iterator's program leaves what it tells of one thread.

internal import CLinux
internal import Glibc

/// The pages of the kernel, mapped: they stay while anybody has them. Whoever asks for a thread must be the only one who
/// reads until he has the answer.
@safe package struct TaskAnswer: ~Copyable, @unchecked Sendable {
  private let raw: UnsafeMutablePointer<clinux_task_answer>
  private static let size = MemoryLayout<clinux_task_answer>.size

  package init(_ memory: borrowing FileDescriptor) throws(Errno) {
    let address = unsafe mmap(
      nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.rawValue, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw Errno(errno) }
    unsafe raw = address.assumingMemoryBound(to: clinux_task_answer.self)
  }

  deinit { unsafe _ = munmap(raw, Self.size) }

  /// 0: all threads come through the walk itself.
  package mutating func ask(for thread: Int32) {
    unsafe raw.pointee.wanted = thread
    unsafe raw.pointee.is_given = 0
  }

  /// What was told since it was asked for.
  package var sample: TaskSample? {
    guard unsafe raw.pointee.is_given != 0 else { return nil }
    return unsafe withUnsafeBytes(of: raw.pointee.sample) { unsafe TaskSample($0.bytes) }
  }
}
