// A place that stalls again and again: reported once, counted each time.

import Linux
import TestSupport
import Testing

@Suite(.serialized) struct RepetitionTests {
  @Test(
    "OUT-06, OUT-07: repeats of a place are counted without a record, also for --count and the exit status")
  func repeatsAreCountedWithoutARecord() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "-t", "100ms", "--cooldown", "10m", "--count", "5",
      "--fail-on-stall",
    ])
    try watch.readToEnd()
    #expect(try watch.end() == .exited(10))

    let stalls = watch.records(of: "stall")
    let last = try #require(stalls.first { $0["state"]?.string == "ended" })
    #expect(stalls.allSatisfy { $0["id"] == last["id"] })
    #expect(
      last["repeat"]?.object == ["count": .number(1), "suppressed": .number(0), "quiet_ms": .number(600_000)])

    let summary = try #require(watch.records(of: "summary").first)
    #expect(summary["stalls"] == .number(5))
    #expect(summary["suppressed_stalls"] == .number(4))
    let place = try #require(summary["places"]?.array.first?.object)
    #expect(place["place"] == .string("parked_crowd_run"))
    #expect(place["count"] == .number(5))
    #expect(place["fingerprint"] == last["fingerprint"])
    #expect(place["total_ms"] == summary["total_stalled_ms"])
  }

  @Test("OUT-06: a place is reported again when it is due, with the number of what was left out")
  func aPlaceIsReportedAgain() throws {
    let target = try TargetProcess.start("parked-crowd", "1")
    var watch = try WatchRun([
      "--json", "--pid", "\(target.processID)", "-t", "100ms", "--cooldown", "1s",
    ])
    let first = try watch.next("stall", state: "ended")
    let second = try watch.next("stall", state: "ended")
    let left = try #require(second["repeat"]?.object.number("suppressed"))
    #expect(second["repeat"]?.object.number("count") == 2 + left)
    #expect(second["repeat"]?.object.number("quiet_ms") == 2_000)
    #expect(second.number("id") == (first.number("id") ?? 0) + 1 + left)
    #expect(second["fingerprint"] == first["fingerprint"])
  }

  @Test("OUT-06: text says how often a place was there and when it is told of next")
  func textSaysWhenThePlaceIsToldOfNext() throws {
    let (output, _) = try shell(
      """
      T=\(builtProduct("TestTarget")); $T parked-crowd 1 >/dev/null & P=$!
      $W --pid $P -t 100ms --cooldown 1ms --count 3 2>&1; kill $P
      """)
    #expect(output.contains("third time here; next report of this place in 4 ms"), "\(output)")
  }
}
