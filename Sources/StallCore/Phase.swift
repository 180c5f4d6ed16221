// The phases in the life of a program, and how long its loop may be away in each.

/// As the watchdogs of operating systems tell them apart. The raw value is the word used in records and options.
package enum Phase: String, Sendable, Codable, CaseIterable {
  case normal
  /// From the start of the program to the first time that its loop parks.
  case launch
  /// From the end of a stop, a freeze or a sleep of the machine to the next time that the loop parks.
  case resume
  /// From a request to stop to the stop.
  case suspend
  /// From a request to end to the end.
  case quit
  /// While another job has the foreground of its terminal.
  case background

  /// Those with a threshold of their own.
  package static let special = allCases.filter { $0 != .normal }
}

/// How many launches, suspensions and ends took too long. They are not among the stalls.
package struct PhaseCounts: Sendable, Equatable {
  package private(set) var launch = 0
  package private(set) var suspend = 0
  package private(set) var quit = 0

  package init() {}

  /// Counts an episode when it is over.
  package mutating func count(_ stall: Stall) {
    switch stall.phase {
    case .launch: launch += 1
    case .suspend: suspend += 1
    case .quit: quit += 1
    case .normal, .resume, .background: break
    }
  }
}

/// What a spell of work is judged by.
package struct JudgementTerms: Sendable, Equatable {
  package var phase: Phase
  package var threshold: Duration

  package init(phase: Phase = .normal, threshold: Duration) {
    self.phase = phase
    self.threshold = threshold
  }
}

/// The threshold of each phase; one without a threshold of its own is not told from the others.
package struct PhaseThresholds: Sendable, Equatable {
  package let normal: Duration
  private var launch: Duration?
  private var resume: Duration?
  private var suspend: Duration?
  private var quit: Duration?
  private var background: Duration?

  /// What launching may take where nobody said otherwise.
  private static let briefLaunch: Duration = .seconds(2)

  /// - Parameters:
  ///   - normal: also the least for a launch where nothing was said of phases.
  ///   - isWatchdog: the values that an operating system's watchdog would use.
  ///   - chosen: those that were asked for one by one.
  package init(normal: Duration, isWatchdog: Bool = false, chosen: [Phase: Duration] = [:]) {
    self.normal = normal
    launch = max(Self.briefLaunch, normal)
    if isWatchdog {
      (launch, resume, suspend) = (.seconds(20), .seconds(10), .seconds(10))
      (quit, background) = (.seconds(6), .seconds(180))
    }
    for (phase, threshold) in chosen { set(phase, threshold) }
  }

  private mutating func set(_ phase: Phase, _ threshold: Duration) {
    switch phase {
    case .normal: break
    case .launch: launch = threshold
    case .resume: resume = threshold
    case .suspend: suspend = threshold
    case .quit: quit = threshold
    case .background: background = threshold
    }
  }

  package subscript(_ phase: Phase) -> Duration? {
    switch phase {
    case .normal: normal
    case .launch: launch
    case .resume: resume
    case .suspend: suspend
    case .quit: quit
    case .background: background
    }
  }
}
