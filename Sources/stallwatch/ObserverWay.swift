// By what the threads of the watched process are looked at, and why not by something better.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct ObserverWay {
  let way: ThreadObserverWay
  /// The task iterator's, for whoever copies stacks, whatever looks are made by. Only one is loaded for a process, whatever
  /// programs that runs one after the other.
  let program: TaskProgram?
  /// Why there is none, if there was to be one. It is not tried for again: each refusal can be a line in a log.
  let refusal: TaskIteratorRefusal?
  private let isAskedFor: Bool

  /// Loading the iterator's program takes a millisecond; from then on a look costs no more than through `/proc`, and tells more.
  /// Yet no looks are made by it unless that is asked for, before its judgement has stood the hours of runs that that of
  /// `/proc` has. Copies of stacks prove themselves.
  init(_ process: Int32, _ options: Options) {
    isAskedFor = options.observer == .bpf && !options.cpuOnly
    (program, refusal) = Self.load(process, options)
    if options.cpuOnly {
      way = .procWithoutWaits
    } else if isAskedFor, let program {
      way = .taskIterator(program)
    } else {
      way = .proc
    }
  }

  private static func load(
    _ process: Int32, _ options: Options
  ) -> (TaskProgram?, TaskIteratorRefusal?) {
    if options.cpuOnly || options.observer == .proc { return (nil, nil) }
    do throws(TaskIteratorRefusal) { return (try TaskProgram(process: process), nil) } catch {
      return (nil, error)
    }
  }

  /// Of the looks that were asked for. `isUsed`: the first one was made by it.
  func missingLooks(isUsed: Bool) -> MissingAbility? { isAskedFor ? missing(isUsed: isUsed) : nil }

  func missing(isUsed: Bool) -> MissingAbility? {
    let what = "the task iterator (exact stacks of blocked threads without a stop)"
    if let refusal { return MissingAbility(what: what, why: refusal.text) }
    guard case .taskIterator = way, !isUsed else { return nil }
    return MissingAbility(
      what: what,
      why: OwnRights.areOfFile
        ? "by the capabilities of its file stallwatch sees only dumpable programs of yours that have none"
        : "it does not tell of this program")
  }
}
