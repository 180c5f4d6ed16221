// Which busy threads are told as polling without waiting.

import Diagnosis
import StallCore
import Testing

@Suite struct PollingRuleTests {
  private func cause(_ functions: [ByteString], kernelShare: Double?) -> Cause? {
    var busy = BusyThread(threadID: 7, state: .busy, percent: 98, window: .seconds(3))
    (busy.kernelShare, busy.switchesPerSecond) = (kernelShare, 12)
    return PollingRule.cause(of: busy, functions: functions)
  }

  @Test("IDLE-03: a busy thread in a wait for events does not wait there")
  func waitOnTop() {
    let found = cause(["epoll_wait", "main"], kernelShare: 0.7)
    #expect(found?.kind == .polling && found?.confidence == .medium)
    #expect(found?.evidence.contains("put on a CPU 12 times a second") == true)
    #expect(cause(["__poll", "loop", "main"], kernelShare: nil)?.confidence == .low)
  }

  @Test("IDLE-03: what computes is not polling, though it polls further out")
  func otherWork() {
    #expect(cause(["compute", "handler", "poll", "main"], kernelShare: 0.7) == nil)
    #expect(cause(["epoll_wait", "main"], kernelShare: 0.1) == nil)
    #expect(cause([], kernelShare: 0.9) == nil)
  }
}
