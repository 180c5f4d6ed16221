// The process that is watched: its identity, what it is called, and whether it may be looked into.

internal import CommandLineOptions
internal import Glibc
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct WatchedProcess {
  let id: Int32
  let name: ByteString
  let executable: ByteString?
  let startTicks: UInt64
  let threads: Int
  /// The thread that is followed as the one that runs the loop.
  let thread: ThreadRecord
  /// Which process of its name this is in the watch, from 1.
  var generation = 1

  /// Refuses what cannot be watched: no process, a thread, ourselves, a part of the kernel unless only its CPU time is
  /// wanted.
  init(_ id: Int32, thread choice: ThreadChoice = .main, cpuOnly: Bool = false) throws(ProgramFailure) {
    if id == getpid() { throw Refusal.isOurselves(id) }
    guard unsafe access("/proc/self/stat", R_OK) == 0 else {
      throw ProgramFailure(
        code: .internalFailure, text: "cannot read /proc; is it mounted?", next: "mount -t proc proc /proc")
    }
    var (status, stat, name) = try Self.identity(of: id)
    // When a thread executes a program, it takes the place of the first one a moment after that has ended (execve(2)).
    for _ in 0..<Self.looksForASuccessor where stat.hasEnded && stat.threads <= 1 {
      Clock.pause(nanoseconds: 10_000_000)
      (status, stat, name) = try Self.identity(of: id)
    }
    if let group = status.threadGroup, group != id {
      throw group == getpid() ? Refusal.isOurselves(id) : Refusal.isThread(id, of: group)
    }
    if stat.hasEnded, stat.threads <= 1 { throw Refusal.hasEnded(id, name) }
    if stat.isKernelThread, !cpuOnly { throw Refusal.isKernelThread(id, name) }
    self.id = id
    self.name = name
    executable = (try? readLink("/proc/\(ThreadList.witness(of: id))/exe")).map { ByteString($0) }
    (startTicks, threads) = (stat.startTicks, stat.threads)
    guard let thread = Self.thread(choice, of: id), thread != id else {
      thread = ThreadRecord(threadID: id, name: name, role: .main)
      return
    }
    guard let text = try? readPseudoFile("/proc/\(id)/task/\(thread)/comm") else {
      throw Refusal.noThread(thread, of: id, name)
    }
    self.thread = ThreadRecord(threadID: thread, name: ByteString(text.dropLast()), role: .worker)
  }

  private static let looksForASuccessor = 3

  /// Nil: the first one, also where none has the name yet.
  private static func thread(_ choice: ThreadChoice, of process: Int32) -> Int32? {
    switch choice {
    case .auto, .main, .all: return nil
    case .id(let thread): return thread
    case .named(let text):
      let pattern = ThreadNamePattern(text)
      return ((try? ThreadList.threads(of: process)) ?? []).first {
        pattern.matches(ThreadSurvey.name(process, $0).bytes)
      }
    }
  }

  /// A hold on this very process, not on a later one of the same id: that one started later.
  func open() throws(Errno) -> ProcessHandle {
    try Self.whileItLives(id) { () throws(Errno) in
      let handle = try ProcessHandle(id)
      let text = try readPseudoFile("/proc/\(id)/stat")
      guard ThreadStat(text.span)?.startTicks == startTicks else { throw .noSuchProcess }
      return handle
    }
  }

  /// When it was started, if it may still be launching. `isOurs`: we have started it. Another one that runs for longer
  /// than a launch may take is taken to be through with it.
  func launchedAt(_ thresholds: PhaseThresholds, isOurs: Bool) -> Instant? {
    let started = Instant(nanoseconds: Clock.monotonicNanoseconds(ofStartTicks: startTicks))
    guard let most = thresholds[.launch], isOurs || .now - started < most else { return nil }
    return started
  }

  private static func identity(
    of id: Int32
  ) throws(ProgramFailure) -> (status: ProcessStatus, stat: ThreadStat, name: ByteString) {
    do throws(Errno) {
      return try whileItLives(id) { () throws(Errno) in
        let status = try ProcessStatus(path: "/proc/\(id)/status")
        let text = try readPseudoFile("/proc/\(id)/stat")
        guard let stat = ThreadStat(text.span) else { throw .noSuchProcess }
        return (status, stat, ByteString(text[stat.name]))
      }
    } catch {
      throw error.meansTaskGone ? Refusal.noProcess(id) : Refusal.notPermitted(id, error)
    }
  }

  /// A thread that executes a program takes the place of the first one, and for a moment `/proc` shows no process.
  private static func whileItLives<Value: ~Copyable>(
    _ id: Int32, _ read: () throws(Errno) -> Value
  ) throws(Errno) -> Value {
    for _ in 0..<20 {
      do throws(Errno) { return try read() } catch {
        // Signal 0 reaches nobody: it only asks whether somebody is there, kill(2).
        if !error.meansTaskGone || kill(id, 0) != 0 && errno == ESRCH { throw error }
        Clock.pause(nanoseconds: 1_000_000)
      }
    }
    return try read()
  }
}

extension ExecutableFacts {
  /// Why no loop can be found in the program; nil if one can.
  var whyNoLoop: String? {
    if isThirtyTwoBit {
      return "a 32-bit program: its waits and stacks cannot be read; only its state and CPU time are watched"
    }
    guard isGoProgram else { return nil }
    return
      "a Go program: goroutines move from thread to thread, so no thread has an event loop that could stall; "
      + "only CPU time is watched"
  }
}
