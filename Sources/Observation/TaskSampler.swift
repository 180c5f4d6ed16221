// Reads what the kernel knows of one thread, without stopping it.

internal import Glibc
package import Linux

/// A walk of the kernel that has come to this thread and stays there: a look is one call. To begin a walk costs four times
/// as much, and to end it. Two descriptors, and 32 KB of the kernel's (kernel/bpf/bpf_iter.c, `bpf_seq_read`).
package struct TaskSampler: ~Copyable {
  private let program: TaskProgram
  private let link: FileDescriptor
  private let thread: Int32
  /// Nil before the first look, and after one that has found nothing.
  private var walk: SharedFile?

  init(_ program: TaskProgram, _ link: consuming FileDescriptor, thread: Int32) {
    self.program = program
    self.link = link
    self.thread = thread
  }

  /// Nil: there is no such thread any more, or nothing of it is told. The id of one that has ended can be another's by now:
  /// whoever must know holds a pidfd, or compares `startTicks`.
  package mutating func sample() throws(Errno) -> TaskSample? {
    let walk = if let walk { walk } else { SharedFile(try program.beginWalk(link)) }
    let sample = try program.sample(of: thread, walk)
    self.walk = sample == nil ? nil : walk
    return sample
  }
}
