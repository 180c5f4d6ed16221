// A breakpoint that tells when a thread comes by an instruction, a few times, and stops nobody.

internal import Glibc

/// A hardware breakpoint as a perf event: on one thread, in user mode. The thread takes an exception at each fire, of which
/// nothing is seen in the program, and goes on.
package struct ExecutionBreakpoint: ~Copyable {
  /// Why there is none.
  package enum Refusal: Error, Hashable, Sendable {
    /// A thread has four, shared with debuggers.
    case allTaken
    /// By `kernel.perf_event_paranoid`, a filter of system calls, or because the thread is somebody else's.
    case notAllowed(Errno)
    case threadEnded
    /// The kernel or the machine has none.
    case unsupported(Errno)
    /// No descriptors or no memory on our side.
    case outOfResources(Errno)

    init(_ error: Errno) {
      switch error {
      case .noSpace: self = .allTaken
      case .noSuchProcess: self = .threadEnded
      case .invalidArgument, .notSupported, .noSuchFile, Errno(EOPNOTSUPP), Errno(ENODEV), Errno(E2BIG):
        self = .unsupported(error)
      case Errno(EMFILE), Errno(ENFILE), Errno(ENOMEM): self = .outOfResources(error)
      default: self = .notAllowed(error)
      }
    }
  }

  package struct Fire: Sendable {
    package var atNanoseconds: Int64
    /// Behind a call of the C library no other register says whose call it was: `rdi` still is the first argument in a
    /// program of one thread, and something else in one of several.
    package var stackPointer: UInt64
  }

  package enum Sight: Sendable {
    case fire(Fire)
    /// The kernel saw too much at once: from here on fires may be missing.
    case gap
  }

  /// 128 fires fit into a page, and a few records of other kinds have to.
  package static let mostFires: Int32 = 100
  private static let layout = PerfSampleLayout(userRegisters: [.rsp])

  private let event: PerfEvent
  private let fires: Int32
  private var position = 0
  private var seen: Int32 = 0
  /// Armed from this moment on, on the monotonic clock.
  package let armedAtNanoseconds: Int64

  /// Armed at once, for so many fires.
  package init(thread: Int32, address: UInt64, fires: Int32) throws(Refusal) {
    self.fires = min(fires, ExecutionBreakpoint.mostFires)
    event = try ExecutionBreakpoint.arm(thread, address, self.fires)
    armedAtNanoseconds = Clock.monotonicNanoseconds
  }

  private static func arm(
    _ thread: Int32, _ address: UInt64, _ fires: Int32
  ) throws(Refusal) -> PerfEvent {
    do throws(Errno) {
      let event = try PerfEvent(
        PerfEventAttributes(.execution(address: address), samples: layout), thread: thread, dataPages: 1)
      try event.enable(for: fires)
      return event
    } catch { throw Refusal(error) }
  }

  package var isUsedUp: Bool { seen >= fires }

  /// Its thread has ended, or executes another program.
  package var hasEnded: Bool { event.hasEnded }

  /// What was seen since the last call of this, up to that moment on the monotonic clock; nil if nothing more.
  package mutating func next(until end: Int64 = .max) -> Sight? {
    var position = self.position
    while let record = event.withRecords({ PerfRecord.next(in: $0, at: &position, Self.layout) }) {
      if case .sample(let sample) = record, sample.atNanoseconds > end { return nil }
      self.position = position
      switch record {
      case .sample(let sample):
        seen += 1
        return .fire(
          Fire(atNanoseconds: sample.atNanoseconds, stackPointer: sample.registers[.rsp] ?? 0))
      case .gap, .lost: return .gap
      case .other: continue
      }
    }
    return nil
  }
}
