// Pressure, quota and stolen time: real text of both versions of cgroups, and text that is cut anywhere.

import Linux
import Testing

private func quota(_ text: String) -> (times: UInt64, nanoseconds: UInt64)? {
  CgroupQuota.parse(bytes(text).span)
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct SurroundingsFilesTests {
  @Test func pressureIsTheTotalOfTheFirstLine() {
    let text =
      "some avg10=4.37 avg60=1.43 avg300=0.56 total=113604527\nfull avg10=0.26 avg60=0.27 avg300=0.28 total=30073249\n"
    #expect(PressureFile.parse(bytes(text).span) == .microseconds(113_604_527))
    for length in 0..<text.utf8.count { _ = PressureFile.parse(bytes(text).span.extracting(first: length)) }
    #expect(PressureFile.parse(bytes("full avg10=0 total=5\n").span) == nil)
    #expect(PressureFile.parse(bytes("some avg10=0\nfull total=5\n").span) == nil)
  }

  @Test("TIME-05: a quota is counted in both versions of cgroups") func quotaIsCountedInBothVersions() throws
  {
    let first = "nr_periods 31\nnr_throttled 30\nthrottled_time 2780299435\nnr_bursts 0\nburst_time 0\n"
    let second =
      "usage_usec 1\nuser_usec 1\nsystem_usec 0\nnr_periods 31\nnr_throttled 30\nthrottled_usec 2780299\n"
    let old = try #require(quota(first))
    #expect(old.times == 30 && old.nanoseconds == 2_780_299_435)
    let new = try #require(quota(second))
    #expect(new.times == 30 && new.nanoseconds == 2_780_299_000)
    #expect(quota("usage_usec 1\nuser_usec 1\n") == nil)
  }

  @Test func controllerIsFoundAmongOthers() {
    let text = "5:devices:/d\n2:cpu,cpuacct:/docker/a:b\n3:cpuset:/c\n0::/\n"
    #expect(CgroupQuota.controllerPath(in: bytes(text)) == "/docker/a:b")
    #expect(CgroupQuota.controllerPath(in: bytes("3:cpuset:/c\n0::/u\n")) == nil)
  }

  @Test func stolenTimeIsTheEighthNumber() {
    let text =
      "cpu  1043809 183681 219885 841156 4762 0 1192 853 0 0\ncpu0 491329 108361 110450 435404 1421 0 187 427 0 0\n"
    #expect(StolenTime.parse(bytes(text).span) == .milliseconds(8_530))
    #expect(StolenTime.parse(bytes("cpu  1 2 3\n").span) == nil)
  }

  @Test func thisMachineIsRead() throws {
    var stolen = try StolenTime()
    #expect(stolen.read() != nil)
    var own = try OwnSchedule()
    #expect(own.runQueueDelayNanoseconds() != nil)
  }
}
