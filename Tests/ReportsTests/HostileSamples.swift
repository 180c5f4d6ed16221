// A made-up watch of a process that does its worst.

import Reports
import StallCore

/// Escape sequence, C1 control, right-to-left override, line separator, newline, backslash, invalid UTF-8.
let hostileName = ByteString(
  Array("\u{1B}]0;x\u{7}\u{9B}2J\u{202E}\u{2028}\n\\".utf8) + [0xFF, 0xC3])

/// A loop and handlers of the worst names, one without any.
private func hostileShares(_ worst: Frame) -> HandlerShares {
  var nameless = worst
  nameless.symbol = nil
  var other = worst
  other.symbol = ByteString(hostileName.bytes + hostileName.bytes)
  var shares = HandlerShares()
  for handler in [nameless, other] { shares.add(stack([handler, worst]), weight: .milliseconds(1)) }
  return shares
}

let hostileWatch: [Record] = {
  let text = String(decoding: hostileName.bytes, as: UTF8.self)
  let thread = ThreadRecord(threadID: 4250, name: hostileName, role: .worker)
  var worst = frame(UInt64.max, hostileName, ByteString(Array("/tmp/".utf8) + hostileName.bytes))
  worst.rawSymbol = hostileName
  worst.aliases = [hostileName]
  worst.file = hostileName
  worst.line = 1
  worst.module?.buildID = text
  var stack = stack([worst], end: .loop, role: .worker)
  stack.threadName = hostileName
  stack.missing = text
  let cause = Cause(.unknown, text, confidence: .low, evidence: [text])
  return series(
    hostileName,
    [
      (
        0,
        .attach(
          AttachRecord(
            name: hostileName, command: ["plain", hostileName], executable: hostileName, buildID: text,
            startTicks: nil, generation: 3, threads: 1, thread: thread, threadReason: text,
            threshold: .milliseconds(10),
            cpuThreshold: .nan, cpuWindow: .seconds(1), observer: .proc, captureWays: [],
            missing: [MissingAbility(what: text, why: text)]))
      ),
      (0, .notice(NoticeRecord(.captureFailed, text))),
      (0, .notice(loopFound(text))),
      (0, .exit(ExitRecord(.unknown, survivors: [OtherProcess(id: 4260, name: hostileName)]))),
      (
        0,
        .stall(
          StallRecord(
            stall(1, .ended, 500), at: moment(0), thread: thread, cause: cause, repetition: Repetition(),
            stacks: [stack], loopNesting: 2))
      ),
      (0, .cpu(BusyThreadRecord(thread: thread, cpuTime: .seconds(1), window: .zero, stacks: [stack]))),
      (
        0,
        .saturation(
          saturationRecord(
            .interrupted(.targetExited), 700, passes: nil, shares: hostileShares(worst), thread: thread,
            stack: stack))
      ),
      (0, .dump(ThreadDumpRecord(stack))),
      (
        0,
        .summary(
          SummaryRecord(
            watched: .seconds(1), stalls: totals([500]), unverified: 0, busyThreads: 0, nearMisses: [],
            parkedShare: nil,
            places: [
              PlaceSummary(
                PlaceTotals(
                  fingerprint: Fingerprint(stack), name: hostileName, count: 1, time: .milliseconds(500),
                  cause: .unknown))
            ],
            ownCost: OwnCost(
              cpuTime: .zero, watched: .seconds(1), looks: 1, lateLooks: 0, targetStopped: .zero)))
      ),
    ])
}()
