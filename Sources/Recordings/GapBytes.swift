// Gaps in the watch, and what is known of the phases of a program, in a recording.

package import StallCore

extension RecordingBytes {
  package mutating func append(_ gap: WatchGap, _ thread: Int) {
    append(.gap) {
      $0.append(count: thread)
      $0.append(gap.code)
      $0.append(gap.duration)
    }
  }

  package mutating func append(_ fact: PhaseFact, _ thread: Int) {
    append(.phaseFact) {
      $0.append(count: thread)
      $0.append(fact)
    }
  }

  package mutating func appendBackground(_ isInBackground: Bool, _ thread: Int) {
    append(.background) {
      $0.append(count: thread)
      $0.append(isInBackground ? 1 : 0)
    }
  }

  private mutating func append(_ fact: PhaseFact) {
    switch fact {
    case .began(let after, let by):
      append(0)
      append(after)
      append(by)
    case .askedToQuit(let moment, let mayGoOn):
      append(mayGoOn ? 2 : 1)
      append(moment)
    case .askedToStop(let moment):
      append(3)
      append(moment)
    case .stopped(let moment):
      append(4)
      append(moment)
    case .machineResumed(let moment):
      append(5)
      append(moment)
    }
  }
}

extension RecordingInput {
  mutating func gap() throws(RecordingProblem) -> WatchGap {
    let code = try byte()
    let duration = try duration()
    switch code {
    case 0: return .starved(duration)
    case 1: return .stopped(duration)
    case 2: return .held(duration)
    case 3: return .suspended(duration)
    default: throw damage
    }
  }

  mutating func phaseFact() throws(RecordingProblem) -> PhaseFact {
    let code = try byte()
    let at = try moment()
    switch code {
    case 0: return .began(after: at, by: max(at, try moment()))
    case 1, 2: return .askedToQuit(at: at, mayGoOn: code == 2)
    case 3: return .askedToStop(at: at)
    case 4: return .stopped(at: at)
    case 5: return .machineResumed(at: at)
    default: throw damage
    }
  }
}

extension PhaseFact: RecordedInMicroseconds {
  package var cut: PhaseFact {
    switch self {
    case .began(let after, let by): .began(after: after.cut, by: by.cut)
    case .askedToQuit(let moment, let mayGoOn): .askedToQuit(at: moment.cut, mayGoOn: mayGoOn)
    case .askedToStop(let moment): .askedToStop(at: moment.cut)
    case .stopped(let moment): .stopped(at: moment.cut)
    case .machineResumed(let moment): .machineResumed(at: moment.cut)
    }
  }
}

extension WatchGap {
  fileprivate var code: UInt8 {
    switch self {
    case .starved: 0
    case .stopped: 1
    case .held: 2
    case .suspended: 3
    }
  }
}
