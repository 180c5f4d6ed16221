// How one thread's waits are seen, and what is done when that is refused.

package import Linux
internal import StallCore

/// How much of a thread's waits can be seen.
package enum WaitSight: Equatable, Sendable {
  /// The system calls, with their arguments and places.
  case calls
  /// Which kernel function it sleeps in, so only the kind of its waits: why the calls are refused.
  case kinds(Errno)
  /// No more than whether it sleeps.
  case states(Errno)
  /// Nobody asked for more than states.
  case notAsked

  /// Why calls are not seen, if that was refused.
  package var refusal: Errno? {
    switch self {
    case .kinds(let error), .states(let error): error
    case .calls, .notAsked: nil
    }
  }
}

/// Reads `syscall`, which needs ptrace-attach rights, or else `wchan`, which needs ptrace-read rights (ptrace(2), "Ptrace
/// access mode checking"), or else nothing.
struct WaitView: ~Copyable {
  private let process: Int32
  private let path: String
  private var systemCall: PseudoFile?
  private let kernelFunction: PseudoFile?
  private var retry = RetrySpacing()
  private(set) var sight: WaitSight

  init(process: Int32, thread: Int32, asks: Bool) {
    self.process = process
    path = "/proc/\(process)/task/\(thread)/syscall"
    kernelFunction = asks ? try? PseudoFile("/proc/\(process)/task/\(thread)/wchan") : nil
    sight = asks ? .calls : .notAsked
  }

  /// Nil if the call may not be seen; then `kind` tells what there is.
  mutating func call(at now: Instant, _ buffer: inout [UInt8]) throws(Errno) -> Activity? {
    if sight == .notAsked || sight.refusal != nil && !retry.isDue(at: now) { return nil }
    do throws(Errno) {
      let activity = try readCall(&buffer)
      (sight, retry) = (.calls, RetrySpacing())
      return activity
    } catch {
      guard error.meansNotAllowed else { throw error }
      retry.refuse(at: now)
      sight = mayReadKernelFunction ? .kinds(error) : .states(error)
      return nil
    }
  }

  /// The held-open file answers by the rights of this moment. One that could not be opened belongs to somebody else now,
  /// and may not do so later.
  private mutating func readCall(_ buffer: inout [UInt8]) throws(Errno) -> Activity {
    if systemCall == nil { systemCall = try PseudoFile(path) }
    let count = try systemCall?.read(into: &buffer) ?? 0
    switch SystemCallRecord(buffer.span.extracting(first: count)) {
    case nil: return .unknown
    case .running: return .running
    case .outsideCall(let stackPointer, let programCounter):
      return .blockedOutsideCall(stackPointer: stackPointer, programCounter: programCounter)
    case .call(let number, let words, let stackPointer, let programCounter):
      return .blocked(
        BlockedCall(
          number: number,
          arguments: InlineArguments(words),
          stackPointer: stackPointer, programCounter: programCounter))
    }
  }

  /// `exe` asks for the same rights as `wchan`, which does not say whether it was refused: `0` also means running.
  private var mayReadKernelFunction: Bool {
    guard kernelFunction != nil else { return false }
    do { _ = try readLink("/proc/\(process)/exe") } catch { return !error.meansNotAllowed }
    return true
  }

  /// What a thread in this state waits for; the state must have been read just before.
  func kind(in state: ThreadState, _ buffer: inout [UInt8]) -> Activity {
    switch (state, sight) {
    case (.running, _): return .running
    case (_, .notAsked), (_, .calls): return .unknown
    // Waits for something to happen can be interrupted.
    case (.uninterruptible, _): return .blockedByKind(nil)
    case (.sleeping, .states): return .blockedByKind(.unseen)
    case (.sleeping, .kinds): return kindByFunction(&buffer)
    default: return .unknown
    }
  }

  /// By its cgroup, whichever that is. The function is that of version 2 or 1 (kernel/signal.c, kernel/freezer.c); from
  /// Linux 6.1 on version 1 leaves a thread where it sleeps and shows it as one that cannot be interrupted, in a wait that
  /// always can be.
  func isInFreezer(_ state: ThreadState, _ buffer: inout [UInt8]) -> Bool {
    guard let count = try? kernelFunction?.read(into: &buffer) else { return false }
    let name = buffer.span.extracting(first: count)
    if name.matches("do_freezer_trap", at: 0) || name.matches("__refrigerator", at: 0) { return true }
    return state == .uninterruptible && KernelFunction.kind(of: name) != nil
  }

  private func kindByFunction(_ buffer: inout [UInt8]) -> Activity {
    guard let count = try? kernelFunction?.read(into: &buffer) else { return .unknown }
    let name = buffer.span.extracting(first: count)
    // Woken since its state was read.
    if name.matches("0", at: 0) { return .unknown }
    return .blockedByKind(KernelFunction.kind(of: name) ?? .other)
  }
}
