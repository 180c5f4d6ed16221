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

  var isTaskIterator: Bool { if case .taskIterator = way { true } else { false } }

  /// Of the looks that were asked for.
  var missingLooks: MissingAbility? { isAskedFor ? missing : nil }

  var missing: MissingAbility? {
    refusal.map {
      MissingAbility(what: "the task iterator (exact stacks of blocked threads without a stop)", why: $0.text)
    }
  }
}
