// By what the threads of the watched process are looked at, and why not by something better.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct ObserverWay {
  let way: ThreadObserverWay
  private let process: Int32
  private let isAskedFor: Bool
  /// Only once for a process, whatever programs that runs one after the other. A refusal is not tried for again: each can
  /// be a line in a log. Nil: it is not wanted.
  private let loaded: Result<TaskProgram, TaskIteratorRefusal>?

  /// Loading takes some milliseconds. From then on a look costs less than through `/proc`, and tells more.
  init(_ process: Int32, _ options: Options) {
    self.process = process
    isAskedFor = options.observer == .bpf && !options.cpuOnly
    loaded = options.observer == .proc || options.cpuOnly ? nil : Self.load(process)
    if options.cpuOnly {
      way = .procWithoutWaits
    } else if case .success(let program) = loaded {
      way = .taskIterator(program)
    } else {
      way = .proc
    }
  }

  private static func load(_ process: Int32) -> Result<TaskProgram, TaskIteratorRefusal> {
    do throws(TaskIteratorRefusal) { return .success(try TaskProgram(process: process)) } catch {
      return .failure(error)
    }
  }

  var program: TaskProgram? { try? loaded?.get() }

  /// Of the looks that were asked for. `isUsed`: the first one was made by it.
  func missingLooks(isUsed: Bool) -> MissingAbility? { isAskedFor ? missing(isUsed: isUsed) : nil }

  func missing(isUsed: Bool) -> MissingAbility? {
    let what = "the task iterator (exact stacks of blocked threads without a stop)"
    if case .failure(let refusal) = loaded { return MissingAbility(what: what, why: refusal.text) }
    guard let program, !isUsed, !tells(program) else { return nil }
    return MissingAbility(
      what: what,
      why: OwnRights.areOfFile
        ? "by the capabilities of its file stallwatch sees only dumpable programs of yours that have none"
        : "it does not tell of this program")
  }

  /// Found out by doing it: the program decides by itself whom it tells of.
  private func tells(_ program: TaskProgram) -> Bool {
    do {
      var sampler = try program.sampler(of: process)
      return try sampler.sample() != nil
    } catch { return false }
  }
}
