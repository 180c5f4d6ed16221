// What the first records say of the watch, made from what the program knows.

internal import CommandLineOptions
internal import Diagnosis
internal import Glibc
internal import Linux
internal import Reports
internal import StallCore

extension RecordOrigin {
  static func of(_ process: WatchedProcess) -> RecordOrigin {
    var generator = SystemRandomNumberGenerator()
    let id = String(generator.next() as UInt64, radix: 16)
    return RecordOrigin(watchID: id, host: hostName, processID: process.id)
  }

  private static var hostName: ByteString {
    var bytes = (try? readPseudoFile("/proc/sys/kernel/hostname")) ?? []
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    return ByteString(bytes)
  }
}

extension AttachRecord {
  init(
    _ process: WatchedProcess, _ options: Options, _ rights: WatchRights, command: [ByteString]?,
    buildID: String?
  ) {
    self.init(
      name: process.name, command: command ?? [], executable: process.executable, buildID: buildID,
      startTicks: process.startTicks, generation: process.generation, threads: process.threads,
      thread: process.thread,
      threadReason: (options.thread ?? .auto).reason,
      threshold: options.threshold,
      cpuThreshold: options.cpuThreshold, cpuWindow: options.cpuWindow, observer: rights.observer,
      captureWays: rights.captureWays, missing: rights.missing + (command == nil ? [Self.noCommandLine] : []))
  }
}

extension AttachRecord {
  /// The kernel takes the lock of the target's memory for it.
  static let noCommandLine = MissingAbility(
    what: "command line", why: "it could not be read within 200 ms")
}

extension ThreadChoice {
  /// Why the thread of the first record is the one that is followed.
  var reason: String {
    switch self {
    case .auto: "the first thread of the process; another one, should that run the loop"
    case .main: "the first thread of the process"
    case .id, .named: "as asked for by --thread"
    case .all: "the first of all threads"
    }
  }
}

extension BusyThreadRecord {
  /// `copy`: of the thread, with its name.
  init(_ busy: BusyThread, stacks: [Stack], _ copy: CapturedThread, sampling: SamplingRecord?) {
    self.init(
      thread: ThreadRecord(threadID: copy.threadID, name: copy.name, role: copy.role),
      cpuTime: busy.window * busy.percent / 100, window: busy.window,
      cause: Self.cause(of: busy, stacks), stacks: stacks, sampling: sampling)
  }

  /// A busy thread polls if it does so for a good part of the time.
  private static func cause(of busy: BusyThread, _ stacks: [Stack]) -> Cause? {
    let all = stacks.reduce(Duration.zero) { $0 + ($1.weight ?? .zero) }
    for stack in stacks where (stack.weight ?? all) * 5 >= all {
      let functions = stack.frames.lazy.compactMap(\.symbol)
      if let cause = PollingRule.cause(of: busy, functions: functions) { return cause }
    }
    return nil
  }
}

extension TextStyle {
  init(_ options: Options, _ terminal: Terminal?) {
    let detail: TextDetail =
      switch options.verbosity {
      case .quiet: .reportsOnly
      case .normal: .normal
      case .verbose: .everything
      }
    let isColored = Self.wantsColor(options.color, isTerminal: terminal != nil)
    self.init(palette: isColored ? .colored : .plain, width: terminal?.columns, detail: detail)
  }

  /// no-color.org; CLICOLOR_FORCE as in bixense.com/clicolors.
  private static func wantsColor(_ choice: ColorChoice, isTerminal: Bool) -> Bool {
    func isSet(_ name: String) -> Bool {
      guard let value = unsafe getenv(name) else { return false }
      return unsafe value.pointee != 0
    }
    switch choice {
    case .always: return true
    case .never: return false
    case .auto:
      if isSet("NO_COLOR") { return false }
      if isSet("CLICOLOR_FORCE") { return true }
      let terminal = unsafe getenv("TERM").map { unsafe String(cString: $0) }
      return isTerminal && terminal != "dumb"
    }
  }
}
