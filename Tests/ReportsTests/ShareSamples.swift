// Stalls and a busy thread that were sampled: all stacks the same, and several.

import Reports
import StallCore

private func sharesOfOne() -> StackShares {
  var shares = StackShares()
  shares.add(loading, .milliseconds(1331), samples: 14)
  return shares
}

/// Innermost function first, below what all have in common.
private func rows(_ path: String) -> Stack {
  let functions = (path + " parseRows onOpen main").split(separator: " ")
  var stack = stack(
    functions.enumerated().map {
      frame(0x5555_0000_6000 + UInt64($0), ByteString(String($1)), "/opt/viewer/bin/viewer")
    })
  (stack.way, stack.stoppedFor) = (.perf, .zero)
  return stack
}

private func sharesOfSeveral() -> StackShares {
  var shares = StackShares()
  shares.add(rows("memchr splitLine"), .milliseconds(2634), samples: 264)
  shares.add(rows("hashRow"), .milliseconds(200), samples: 20)
  shares.add(rows("malloc grow copy append joinLines"), .milliseconds(100), samples: 10)
  for index in 0..<5 { shares.add(rows("helper\(index)"), .milliseconds(10)) }
  shares.addUnknown(.milliseconds(40), samples: 1)
  return shares
}

private func sampledRecord(
  _ stall: Stall, at seconds: Double, cause: Cause, _ shares: StackShares
) -> StallRecord {
  StallRecord(
    stall, at: moment(seconds), thread: mainThread, cause: cause, repetition: Repetition(),
    stacks: shares.stacks, sampling: SamplingRecord(shares))
}

func sampledStalls() -> [(Double, RecordBody)] {
  let computing = Cause(.userCPU, "computing in memchr", confidence: .high, evidence: [])
  return [
    (13.1, .stall(sampledRecord(stall(7, .ended, 1331), at: 13.1, cause: disk, sharesOfOne()))),
    (
      13.2,
      .stall(
        sampledRecord(
          stall(8, .ended, 3000, proof: .breakpoint, onCPU: 2990), at: 13.2, cause: computing,
          sharesOfSeveral()))
    ),
    (
      13.3,
      .unverified(
        sampledRecord(stall(9, .ended, 700, proof: .none), at: 13.3, cause: computing, sharesOfSeveral()))
    ),
  ]
}

func sampledBusyThread() -> RecordBody {
  .cpu(
    BusyThreadRecord(
      thread: ThreadRecord(threadID: 4250, name: "worker-3", role: .worker), cpuTime: .milliseconds(2913),
      window: .seconds(3), stacks: sharesOfSeveral().stacks, sampling: SamplingRecord(sharesOfSeveral())))
}
