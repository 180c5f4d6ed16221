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
  init(_ process: Int32, _ options: Options) {
    if options.cpuOnly {
      way = .procWithoutWaits
      return
    }
    guard options.observer != .proc else {
      way = .proc
      return
    }
    do throws(TaskIteratorRefusal) { way = .taskIterator(try TaskProgram(process: process)) } catch {
      way = .proc
      // Whoever has no rights to it, and did not ask for it, has nothing to be told: `doctor` does.
      if options.observer == .bpf || error != .notAllowed { refusal = error }
    }
  }

  var isTaskIterator: Bool { if case .taskIterator = way { true } else { false } }

  var missing: MissingAbility? {
    refusal.map { MissingAbility(what: "the task iterator", why: $0.text) }
  }
}
