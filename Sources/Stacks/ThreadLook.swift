// What `/proc` shows of a thread in the moment before it is captured.

internal import Linux
internal import StallCore

/// Reads the files of one thread anew at each look. Only for the helper process: some of them take the locks of the
/// target.
struct ThreadLook {
  let processID: Int32
  let threadID: Int32

  private var directory: String { "/proc/\(processID)/task/\(threadID)" }

  /// All that `CapturePolicy` wants to know.
  func conditions() throws(CaptureFailure) -> CaptureConditions {
    let statText = try read("stat")
    guard let stat = ThreadStat(statText.span) else { throw .gone }
    var conditions = CaptureConditions(state: stat.state, systemCall: .running)
    conditions.isKernelThread = stat.isKernelThread || ThreadLook.isKernelWorker(stat)
    if conditions.isKernelThread { return conditions }
    conditions.isThirtyTwoBit = ElfClass.isThirtyTwoBit(process: threadID)
    if conditions.isThirtyTwoBit { return conditions }
    let statusText = try read("status")
    let status = ProcessStatus(statusText.span)
    conditions.tracer = status.tracer ?? 0
    conditions.isDumpingCore = status.isDumpingCore
    switch try systemCallIfShown(in: stat.state) {
    case .running: break
    case .outsideCall: conditions.systemCall = .outside
    case .call(let number, let arguments, _, _):
      conditions.systemCall = .inside(number: number)
      conditions.descriptorKind = kind(of: arguments[0])
      conditions.isWaitingForPage = (try? read("wchan")) == Array("handle_userfault".utf8)
    }
    // A running thread is not frozen; by version 1 a frozen one is in state D.
    if stat.state == UInt8(ascii: "S") || stat.state == UInt8(ascii: "D") {
      var buffer = PseudoFile.makeBuffer()
      conditions.isFrozen = (try? CgroupFreezer(process: processID))?.isFrozen(&buffer) ?? false
    }
    return conditions
  }

  /// PF_IO_WORKER and PF_USER_WORKER (<linux/sched.h>): threads of the process that never run its code.
  private static func isKernelWorker(_ stat: ThreadStat) -> Bool { stat.flags & (0x10 | 0x4000) != 0 }

  /// It could run, but not while we do: started at a high priority, we may have taken its place.
  var needsOurProcessor: Bool {
    guard let text = try? read("stat"), let stat = ThreadStat(text.span) else { return false }
    return stat.state == UInt8(ascii: "R") && stat.processor == OwnProcess.processor
  }

  /// What the thread is blocked in.
  func systemCall() throws(CaptureFailure) -> SystemCallRecord {
    let text = try read("syscall")
    guard let record = SystemCallRecord(text.span) else { throw .gone }
    return record
  }

  /// A running thread can be sampled with CAP_PERFMON alone, without the rights to see what one is blocked in.
  private func systemCallIfShown(in state: UInt8) throws(CaptureFailure) -> SystemCallRecord {
    do { return try systemCall() } catch {
      guard case .refused(let reason) = error, reason.meansNotAllowed, state == UInt8(ascii: "R") else {
        throw error
      }
      return .running
    }
  }

  /// By its state where what it is blocked in is not shown.
  func isRunning() throws(CaptureFailure) -> Bool {
    let text = try read("stat")
    guard let stat = ThreadStat(text.span) else { throw .gone }
    if case .running = try systemCallIfShown(in: stat.state) { return true }
    return false
  }

  /// How often the thread was put on a CPU. It cannot run without counting up.
  func timesScheduled() throws(CaptureFailure) -> UInt64 { try schedulerStatistics().timesScheduled }

  /// These differ between two threads that had the same id one after the other.
  func schedulerStatistics() throws(CaptureFailure) -> SchedulerStatistics {
    let text = try read("schedstat")
    guard let statistics = SchedulerStatistics(text.span) else { throw .gone }
    return statistics
  }

  /// What it does in the kernel, in lines; only for those who may do everything (CAP_SYS_ADMIN). For a thread on a CPU it
  /// means nothing.
  func kernelStack() throws(CaptureFailure) -> [UInt8] { try read("stack") }

  /// The letter of `stat`.
  func state() throws(CaptureFailure) -> UInt8 {
    let text = try read("stat")
    guard let stat = ThreadStat(text.span) else { throw .gone }
    return stat.state
  }

  private func read(_ name: String) throws(CaptureFailure) -> [UInt8] {
    do { return try readPseudoFile("\(directory)/\(name)", limit: 4096) } catch {
      throw CaptureFailure(error)
    }
  }

  private func kind(of descriptor: UInt64) -> DescriptorKind {
    let number = UInt32(truncatingIfNeeded: descriptor)
    guard let target = try? readLink("/proc/\(threadID)/fd/\(number)") else { return .unknown }
    return target.span.matches("socket:", at: 0) ? .socket : .other
  }
}

extension CaptureFailure {
  init(_ error: Errno) { self = error.meansTaskGone ? .gone : .refused(error) }
}
