// Loops whose jobs are made up by chance, and the comparison of what was judged with what was true.

import StallCore
import Testing

struct Job {
  var start: Instant
  var end: Instant
  var length: Duration { end - start }
}

extension Watched {
  /// Six thousand jobs of 2 to 20 ms, every hundredth of up to `longest` milliseconds; `load` is the share of work.
  mutating func workByChance(load: Double, seed: UInt64, longest: Int64, jobs count: Int = 6000) -> [Job] {
    var random = Numbers(state: UInt64(load * 1000) &* 31 &+ seed)
    var jobs: [Job] = []
    for _ in 0..<count {
      let isLong = random.next(below: 100) == 0
      let length = isLong ? random.next(below: longest) * 1000 : 2000 + random.next(below: 18_000)
      let pause = Int64(Double(length) * (1 / load - 1))
      if pause > 0 {
        script.block(in: SystemCallNumber.epollWait, 5)
        proceed(.microseconds(pause), running: false)
      } else {
        script.pass()
      }
      let start = script.now
      proceed(.microseconds(length), running: true)
      jobs.append(Job(start: start, end: script.now))
    }
    script.block(in: SystemCallNumber.epollWait, 5)
    proceed(.seconds(2), running: false)
    return jobs
  }
}

/// No verified stall is false or outside of its bounds, and every job of at least `least` is found.
func expectTruth(of watched: Watched, _ jobs: [Job], found least: Duration) {
  let verified = watched.ended.filter(\.isVerified)
  for stall in verified {
    let middle = stall.startedAt + stall.duration.likely / 2
    guard let job = jobs.last(where: { $0.start <= middle }) else { continue }
    #expect(job.length >= stall.duration.atLeast && job.length >= .milliseconds(500), "false stall")
    #expect(stall.duration.atMost.map { job.length <= $0 } ?? true, "beyond its bound")
  }
  for job in jobs where job.length >= least {
    let middle = job.start + job.length / 2
    let found = verified.contains { $0.startedAt <= middle && middle <= $0.startedAt + $0.duration.likely }
    #expect(found, "missed \(job.length)")
  }
}

/// A linear congruential generator (Knuth, The Art of Computer Programming, 3.3.4): the same numbers at every run.
private struct Numbers {
  var state: UInt64

  mutating func next(below limit: Int64) -> Int64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64(state >> 33) % limit
  }
}
