// Has the passes of a thread's loop watched, wherever its home turns out to be.

internal import Observation
internal import StallCore

struct HomePasses: ~Copyable {
  private let thread: Int32
  private let isOff: Bool
  private var monitor: PassMonitor?
  /// The home whose returns are watched.
  private var home: Multiplexer?

  init(thread: Int32, isOff: Bool) {
    self.thread = thread
    self.isOff = isOff
  }

  /// What is known of passes at this look. `news` is given where something new may be known of where the home's wait
  /// returns to.
  mutating func look(at look: ThreadObservation, _ home: HomeCandidate?, _ news: HomeInquiry?) -> PassSight? {
    if let news, let home, !isOff { watch(home, news.returns(of: home)) }
    if self.home != home?.site.multiplexer {
      self.home = nil
      monitor?.forgetHome()
    }
    return monitor?.look(at: look.at, timesScheduled: look.timesScheduled, mayArm: true)
  }

  private mutating func watch(_ home: HomeCandidate, _ returns: [WaitReturn]) {
    guard let address = returns.last?.programCounter else { return }
    if monitor == nil { monitor = PassMonitor(thread: thread) }
    let stackPointers = returns.filter { $0.programCounter == address }.map(\.stackPointer)
    monitor?.setHome(address: address, stackPointers: stackPointers)
    self.home = home.site.multiplexer
  }
}
