// Registers of threads that are off the CPU, read through the task iterator for those who copy their stacks.

internal import Linux
internal import Observation
internal import Stacks

/// Keeps the sampler of the thread that was asked for last: one that stalls is copied again and again. Also the iterator
/// of all threads: who asks for one dump may ask for another.
struct BlockedThreads: ~Copyable {
  private let program: TaskProgram
  private var ofAll: TaskIterator?
  private var sampler: TaskSampler?
  private var thread: Int32?

  init(_ program: TaskProgram) { self.program = program }

  /// Nil: it is on a CPU, or there is nothing of it to be seen.
  mutating func registers(of thread: Int32) -> BlockedRegisters? {
    if thread != self.thread {
      sampler = try? program.sampler(of: thread)
      self.thread = thread
    }
    guard let sample = try? sampler?.sample() else {
      // The next one of this id is another.
      self.thread = nil
      return nil
    }
    return BlockedRegisters(sample.thread)
  }

  /// All threads of the process, or a great many, seen at about one moment; nil where that fails.
  mutating func all() -> SeenCrowd? {
    guard var iterator = ofAll.take() ?? (try? program.iterator()) else { return nil }
    var samples: [ThreadSample] = []
    do throws(Errno) {
      try iterator.read { if samples.count < SeenCrowd.mostThreads { samples.append($0) } }
    } catch { return nil }
    ofAll = consume iterator
    return SeenCrowd(samples)
  }
}
