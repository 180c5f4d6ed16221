// What is watched and how: the first record of a watch.

package import StallCore

/// Something that cannot be had for this target, and why.
package struct MissingAbility: Sendable, Encodable {
  package let what: EscapedText
  package let why: EscapedText

  /// For a remark.
  package var sentence: String { "missing: \(what.text), \(why.text)" }

  package init(what: String, why: String) {
    self.what = EscapedText(what)
    self.why = EscapedText(why)
  }
}

/// How the threads are seen. The raw value is the word used in records.
package enum ObserverKind: String, Sendable, Encodable {
  /// All of a thread at one moment, with exact times.
  case bpf
  case proc
  /// Calls may not be seen, only the kernel function in which a thread sleeps.
  case procKinds = "proc-kinds"
  /// Nor that: only whether it runs or sleeps.
  case procStates = "proc-states"
  /// The same, and nothing is made of it: only CPU time is judged.
  case procCPU = "proc-cpu"

  var spoken: String {
    switch self {
    case .bpf: "the task iterator"
    case .proc: "/proc"
    case .procKinds: "/proc, the kinds of waits only"
    case .procStates: "/proc, states only"
    case .procCPU: "/proc, state and CPU time only"
    }
  }

  var judgesStalls: Bool { self != .procCPU }
}

package struct AttachRecord: Sendable, Encodable {
  let command: [EscapedText]
  let commandBytes: [ExactBytes?]?
  let executable: EscapedText?
  let executableBytes: ExactBytes?
  let buildID: EscapedText?
  let startTicks: UInt64?
  let generation: Int
  let threads: Int
  let thread: ThreadRecord
  let threadReason: EscapedText
  let threshold: Milliseconds
  let cpuThreshold: Percent?
  let cpuWindow: Milliseconds?
  let observer: ObserverKind
  let captureWays: [CaptureWay]
  let missing: [MissingAbility]
  /// What to call the process; for text only.
  let name: EscapedText

  /// - Parameters:
  ///   - name: what to call the process in a sentence: the base name of the executable or the name of its main thread.
  ///   - command: argument vector; empty if it cannot be read.
  ///   - startTicks: start time of the process in clock ticks since boot, field 22 of `/proc/PID/stat`.
  ///   - generation: which process of that name this is, from 1.
  ///   - threads: number of threads at this moment.
  ///   - threadReason: why this thread is the one that is followed.
  ///   - cpuThreshold: percent of one core; 0 if busy threads are not looked for.
  ///   - captureWays: in order of preference.
  package init(
    name: ByteString, command: [ByteString], executable: ByteString?, buildID: String?, startTicks: UInt64?,
    generation: Int = 1, threads: Int, thread: ThreadRecord, threadReason: String, threshold: Duration,
    cpuThreshold: Double,
    cpuWindow: Duration, observer: ObserverKind, captureWays: [CaptureWay], missing: [MissingAbility]
  ) {
    self.name = EscapedText(name)
    self.command = command.map { EscapedText($0) }
    commandBytes = command.allSatisfy(\.isPlain) ? nil : command.map { ExactBytes($0) }
    self.executable = executable.map { EscapedText($0) }
    executableBytes = ExactBytes(executable)
    self.buildID = buildID.map { EscapedText($0) }
    self.startTicks = startTicks
    self.generation = generation
    self.threads = threads
    self.thread = thread
    self.threadReason = EscapedText(threadReason)
    self.threshold = Milliseconds(threshold)
    self.cpuThreshold = cpuThreshold > 0 ? Percent(cpuThreshold) : nil
    self.cpuWindow = cpuThreshold > 0 ? Milliseconds(cpuWindow) : nil
    self.observer = observer
    self.captureWays = captureWays
    self.missing = missing
  }

  private enum CodingKeys: String, CodingKey {
    case command
    case commandBytes = "command_bytes"
    case executable
    case executableBytes = "executable_bytes"
    case buildID = "build_id"
    case startTicks = "start_ticks"
    case generation, threads, thread
    case threadReason = "thread_reason"
    case threshold = "threshold_ms"
    case cpuThreshold = "cpu_threshold_percent"
    case cpuWindow = "cpu_window_ms"
    case observer
    case captureWays = "capture_ways"
    case missing
  }
}
