// What a command line asks for, as plain typed values.

package import StallCore

/// The things stallwatch does. The raw value is the word on the command line; `watch` may be left out.
package enum Command: String, CaseIterable, Sendable {
  case watch, run, replay, dump, doctor
}

/// Who is watched.
package enum Target: Sendable, Equatable {
  /// A running process.
  case process(Int32)
  /// The running process of this name.
  case named(String)
  /// A program to start, with its arguments.
  case program([ByteString])
  /// A recording of this name.
  case recording(ByteString)
}

/// Which thread is watched as the one that runs the loop.
package enum ThreadChoice: Sendable, Equatable {
  /// The first thread of the process, and the one that behaves as the loop, where that is another.
  case auto
  /// The first thread of the process.
  case main
  case id(Int32)
  /// Every one whose name matches the pattern of a shell, glob(7).
  case named(String)
  case all
}

package enum OutputKind: String, CaseIterable, Sendable {
  case text, json
}

package enum OutputDestination: Sendable, Equatable {
  /// Nothing was said: standard output, or standard error where standard output belongs to the child.
  case automatic
  case standardOutput
  case descriptor(Int32)
  case file(String)
}

package enum ColorChoice: String, CaseIterable, Sendable {
  case auto, always, never
}

package enum Verbosity: Sendable {
  /// Reports only.
  case quiet
  case normal
  /// All frames and evidence.
  case verbose
}

/// Whose stacks stand in the report of a stall.
package enum StackChoice: String, CaseIterable, Sendable {
  case stalled
  /// Also who holds the lock, and who is on a CPU or waits for one.
  case busy
  case all
}

/// Through what threads are looked at.
package enum ObserverChoice: String, CaseIterable, Sendable {
  /// The task iterator where it can be had.
  case auto
  case proc, bpf
}

/// How much is looked up for an address.
package enum SymbolDetail: String, CaseIterable, Sendable {
  case none
  /// Names from symbol tables.
  case fast
  /// Also source lines and inlined calls.
  case full
}

/// Everything a command needs to know. The values here are the defaults.
package struct Options: Sendable, Equatable {
  package var command = Command.watch
  package var target = Target.program([])
  /// Nil: not said.
  package var thread: ThreadChoice?
  /// Where the loop parks; nil: to be found out.
  package var home: HomeSelector?
  /// The variable that the loop counts its rounds in; nil: none is known.
  package var heartbeat: HeartbeatName?
  /// The loop's own wake-up may be raised.
  package var ping = false
  package var threshold = Duration.milliseconds(500)
  /// Percent of one core; 0 turns it off.
  package var cpuThreshold = 70.0
  package var cpuWindow = Duration.seconds(3)
  /// Distance of looks while alert; nil: derived from the threshold.
  package var interval: Duration?
  /// From one report of a place to the next, at first; zero: every stall is reported.
  package var cooldown = Duration.seconds(5)
  /// Where the program is asked from outside.
  package var probe: ProbeAddress?
  /// Every phase has the threshold that an operating system's watchdog gives it.
  package var watchdog = false
  /// Of phases that were given one by one.
  package var phases: [Phase: Duration] = [:]
  package var maxFrames = 256
  package var stacks = StackChoice.stalled
  package var neverStop = false
  package var cpuOnly = false
  package var observer = ObserverChoice.auto
  /// No breakpoint tells whether the loop came round.
  package var noBreakpoint = false
  package var symbols = SymbolDetail.full
  package var outputKind = OutputKind.text
  package var output = OutputDestination.automatic
  /// How long to watch; nil: for ever.
  package var duration: Duration?
  /// How many ended stalls to watch; nil: any number.
  package var count: Int?
  package var failOnStall = false
  /// Watch the next process of that name, too.
  package var wait = false
  /// Who runs the program; nil: we.
  package var user: String?
  /// After this the program is asked to end; nil: never.
  package var timeout: Duration?
  /// Where what is seen is recorded.
  package var record: String?
  package var color = ColorChoice.auto
  package var verbosity = Verbosity.normal
  /// Nothing is watched then: the file is printed.
  package var generated: GeneratedFile?

  package init() {}

  package var phaseThresholds: PhaseThresholds {
    PhaseThresholds(normal: threshold, isWatchdog: watchdog, chosen: phases)
  }
}

/// What a command line means.
package enum Invocation: Sendable, Equatable {
  case perform(Options)
  /// Nil: the help of the whole program.
  case help(Command?)
  case version
  case generate(GeneratedFile)
}
