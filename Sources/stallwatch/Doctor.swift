// What works here and what does not: each found out by doing it.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import Stacks
internal import StallCore

/// One thing that was tried.
struct DoctorFinding {
  enum Verdict: String {
    case yes, partly, no
  }

  var group: String
  var what: String
  var verdict: Verdict
  /// How it went, or what it would need.
  var note = ""
  var next: String?
  /// What whoever administers this machine could do instead.
  var remedy: FileCapabilities?
}

enum Doctor {
  private static let seeing = "seeing"

  /// What this user may do on this machine.
  static func examineSurroundings() -> [DoctorFinding] {
    var findings = [
      seeing("your children", .child), seeing("your other programs", .orphan), seeingOthers(),
    ]
    do throws(Errno) {
      let subject = try DoctorSubject(.child)
      let program = taskProgram(subject.processID)
      findings.append(taskIterator(subject.processID, program))
      findings += stacks(of: subject.processID, program)
    } catch {
      findings.append(DoctorFinding(group: "stacks", what: "of a child", verdict: .no, note: error.text))
    }
    return findings
  }

  /// What can be seen of this process.
  static func examine(_ process: WatchedProcess) -> [DoctorFinding] {
    let group = "\(process.name.escaped) \(process.id)"
    let seen = seeing("its waits", process.id, group: group)
    if seen.verdict != .yes { return [seen] }
    guard let camera = camera(process.id, mayStop: true) else { return [seen] }
    if let program = try? TaskProgram(process: process.id) { camera.use(program) }
    let captured = camera.capture(process.id, role: .main, isDump: true)
    let stack = analyst(process.id).stack(of: captured)
    var finding = DoctorFinding(group: group, what: "its stack", verdict: stack.frames.isEmpty ? .no : .yes)
    finding.note = stack.missing ?? "\(stack.frames.count) frames, by \(stack.way?.rawValue ?? "nothing")"
    return [seen, finding] + names(stack, group: group)
  }

  private static func seeing(_ what: String, _ kind: DoctorSubject.Kind) -> DoctorFinding {
    do throws(Errno) {
      let subject = try DoctorSubject(kind)
      return seeing(what, subject.processID, group: Self.seeing)
    } catch {
      return DoctorFinding(
        group: Self.seeing, what: what, verdict: .no, note: "there is none to try it with (\(error.text))")
    }
  }

  /// Root becomes another user for it; others look at the first process, if it is not theirs.
  private static func seeingOthers() -> DoctorFinding {
    let what = "programs of others"
    let first = RightsFacts(1)
    return first.isSomeoneElses ? seeing(what, 1, group: Self.seeing) : seeing(what, .ofAnotherUser)
  }

  private static func seeing(_ what: String, _ process: Int32, group: String) -> DoctorFinding {
    var finding = DoctorFinding(group: group, what: what, verdict: .no)
    do throws(Errno) {
      var observer = try ProcObserver(process: process, thread: process)
      _ = try observer.look(isAtWork: false) { _, _, _ in false }
      switch observer.facts.sight {
      case .calls: finding.verdict = .yes
      case .kinds, .states, .notAsked:
        finding.verdict = if case .kinds = observer.facts.sight { .partly } else { .no }
        let denial = Denial(RightsFacts(process))
        (finding.note, finding.next) = (denial.why, denial.next)
        if group == Self.seeing {
          finding.next = denial.next.replacing("--pid \(process)", with: "--pid PID")
        }
      }
    } catch {
      finding.note = error.meansTaskGone ? "/proc does not show it" : error.text
    }
    return finding
  }

  private static func taskProgram(_ process: Int32) -> Result<TaskProgram, TaskIteratorRefusal> {
    do throws(TaskIteratorRefusal) { return .success(try TaskProgram(process: process)) } catch {
      return .failure(error)
    }
  }

  /// The child is asleep in a call, so that its registers are those of that call.
  private static func taskIterator(
    _ process: Int32, _ program: Result<TaskProgram, TaskIteratorRefusal>
  ) -> DoctorFinding {
    var finding = DoctorFinding(group: seeing, what: "task iterator", verdict: .no)
    do throws(TaskIteratorRefusal) {
      var sampler = try program.get().sampler(of: process)
      let sample = (try? sampler.sample()) ?? nil
      if let sample, sample.thread.registers[.rsp] != 0 { finding.verdict = .yes }
      if finding.verdict == .no { finding.note = "it does not tell of a child" }
    } catch {
      (finding.note, finding.next) = Refusal.ofTaskIterator(error)
      if case .notAllowed(let missing) = error { finding.remedy = FileCapabilities(missing: missing) }
    }
    return finding
  }

  /// Copied, read and named as in a watch.
  private static func stacks(
    of process: Int32, _ program: Result<TaskProgram, TaskIteratorRefusal>
  ) -> [DoctorFinding] {
    guard let still = camera(process, mayStop: false), let camera = camera(process, mayStop: true) else {
      return []
    }
    let captured = camera.capture(process, role: .main, isDump: true)
    let stack = analyst(process).stack(of: captured)
    return [
      sampling(process), copyingBlocked(process, program),
      copying("roughly, from /proc", still.capture(process, role: .main, isDump: true), .syscallFile),
      copying("by a brief stop", captured, .ptrace), memory(camera, captured), passes(of: process),
    ] + names(stack, group: "names")
  }

  /// The child sleeps: what may be refused is the event, not the sample.
  private static func sampling(_ process: Int32) -> DoctorFinding {
    var finding = DoctorFinding(group: "stacks", what: "running threads", verdict: .yes)
    if let error = PerfCapture.refusal(forThread: process) {
      finding.verdict = .no
      (finding.note, finding.next) = Refusal.ofPerfEvent(error)
    }
    return finding
  }

  private static func copyingBlocked(
    _ process: Int32, _ program: Result<TaskProgram, TaskIteratorRefusal>
  ) -> DoctorFinding {
    let what = "blocked threads"
    switch program {
    case .failure(let error):
      var finding = DoctorFinding(group: "stacks", what: what, verdict: .no)
      (finding.note, finding.next) = Refusal.ofTaskIterator(error)
      return finding
    case .success(let program):
      guard let camera = camera(process, mayStop: false) else {
        return DoctorFinding(group: "stacks", what: what, verdict: .no)
      }
      camera.use(program)
      return copying(what, camera.capture(process, role: .main, isDump: true), .taskIterator)
    }
  }

  /// The address need not be one that is ever executed: setting it is what may be refused.
  private static func passes(of process: Int32) -> DoctorFinding {
    var finding = DoctorFinding(group: "passes", what: "breakpoint", verdict: .yes)
    do throws(ExecutionBreakpoint.Refusal) {
      _ = try ExecutionBreakpoint(thread: process, address: 0x1000, fires: 1)
    } catch {
      finding.verdict = .no
      (finding.note, finding.next) = Refusal.ofBreakpoint(error)
    }
    return finding
  }

  /// Nil if the process has ended.
  private static func camera(_ process: Int32, mayStop: Bool) -> ThreadCamera? {
    guard let handle = try? ProcessHandle(process) else { return nil }
    return ThreadCamera(handle, mayStop: mayStop, isForDump: true)
  }

  private static func copying(_ what: String, _ thread: CapturedThread, _ way: CaptureWay) -> DoctorFinding {
    var finding = DoctorFinding(group: "stacks", what: what, verdict: .no)
    switch thread.result {
    case .success(let raw) where raw.way == way:
      finding.verdict = .yes
      if way == .ptrace { finding.note = "a child was held for \(raw.stoppedFor.spoken)" }
    case .success, .failure:
      var facts = RightsFacts(thread.threadID)
      facts.areWaitsSeen = true
      let denial = Denial(facts)
      (finding.note, finding.next) = (denial.why, denial.next)
    }
    return finding
  }

  private static func memory(_ camera: ThreadCamera, _ thread: CapturedThread) -> DoctorFinding {
    var finding = DoctorFinding(group: "stacks", what: "memory", verdict: .no)
    guard case .success(let raw) = thread.result, let address = raw.registers[Registers.stackPointer] else {
      finding.note = "not tried without a stack"
      return finding
    }
    var bytes = [UInt8](repeating: 0, count: 8)
    guard camera.readMemory(of: thread.threadID, at: address, 8, into: &bytes) else {
      finding.note = "neither process_vm_readv nor /proc/PID/mem answers"
      return finding
    }
    finding.verdict = .yes
    if let refusal = CallFilter.memoryRefusal {
      finding.note = "through /proc/PID/mem (process_vm_readv: \(refusal.text))"
    }
    return finding
  }

  /// A library without symbols or debug information is a matter of that library.
  private static func names(_ stack: Stack, group: String) -> [DoctorFinding] {
    let all = stack.frames.count
    return [
      ("functions", stack.frames.count { $0.symbol != nil }),
      ("lines", stack.frames.count { $0.file != nil }),
    ].map { what, found in
      DoctorFinding(
        group: group, what: what, verdict: found > 0 ? .yes : .no,
        note: all == 0 ? "no stack" : "\(found) of \(all) frames")
    }
  }

  private static func analyst(_ process: Int32) -> StackAnalyst {
    StackAnalyst(process: process, maxFrames: 256, detail: .full)
  }
}
