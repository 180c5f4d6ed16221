// By what the threads of the watched process are looked at, and why not by something better.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import StallCore

struct ObserverWay {
  let way: ThreadObserverWay
  /// Why not by the task iterator, if that was to be known.
  private(set) var refusal: TaskIteratorRefusal?

  /// Loading the iterator's program takes some 20 ms; from then on a look costs no more than through `/proc`, and tells more.
  /// Nobody gets it who did not ask for it before its judgement has stood the hours of runs that that of `/proc` has.
  init(_ process: Int32, _ options: Options) {
    if options.cpuOnly {
      way = .procWithoutWaits
      return
    }
    guard options.observer == .bpf else {
      way = .proc
      return
    }
    do throws(TaskIteratorRefusal) { way = .taskIterator(try TaskProgram(process: process)) } catch {
      (way, refusal) = (.proc, error)
    }
  }

  var isTaskIterator: Bool { if case .taskIterator = way { true } else { false } }

  var missing: MissingAbility? {
    refusal.map { MissingAbility(what: "the task iterator", why: $0.text) }
  }
}
