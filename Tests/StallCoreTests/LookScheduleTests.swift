// When looks come: how far apart, together for many threads, and at every point of a loop's rounds.

import StallCore
import Testing

@Suite struct LookScheduleTests {
  /// At least, on the average, and at most.
  private func distances(
    _ schedule: LookSchedule, isParked: Bool, looks: Int
  ) -> (least: Duration, mean: Duration, most: Duration) {
    var schedule = schedule
    let parked = schedule.next(after: Instant(nanoseconds: 12_345_678), isParked: isParked, deadline: nil)
    var (look, least, most) = (parked, Duration.seconds(1), Duration.zero)
    for _ in 0..<looks {
      let next = schedule.next(after: look, isParked: isParked, deadline: nil)
      (least, most) = (min(least, next - look), max(most, next - look))
      look = next
    }
    return (least, (look - parked) / looks, most)
  }

  @Test(arguments: [20, 30, 100, 500, 5000]) func distancesAreUnevenAndNeverLongerThanPromised(
    threshold: Int64
  ) {
    let schedule = LookSchedule(threshold: .milliseconds(threshold), interval: nil)
    for (isParked, longest) in [(true, schedule.calmInterval), (false, schedule.alertInterval)] {
      let (least, mean, most) = distances(schedule, isParked: isParked, looks: 1000)
      #expect(most <= longest && least >= max(longest / 2, LookSchedule.shortestInterval))
      let isCutOff = longest < LookSchedule.shortestInterval * 2
      #expect(isCutOff || mean > longest * 91 / 100 && mean < longest * 95 / 100)
    }
  }

  @Test func intervalThatIsGivenIsTheLongest() {
    let schedule = LookSchedule(threshold: .milliseconds(500), interval: .milliseconds(20))
    let (least, _, most) = distances(schedule, isParked: false, looks: 1000)
    #expect(most <= .milliseconds(20) && least >= .milliseconds(10))
  }

  @Test func whatBecomesCertainIsSeenAtOnce() {
    var schedule = LookSchedule(threshold: .milliseconds(500), interval: nil)
    let look = Instant(nanoseconds: 12_345_678)
    let deadline = look + .milliseconds(7)
    #expect(schedule.next(after: look, isParked: false, deadline: deadline) == deadline)
    #expect(
      schedule.next(after: look, isParked: false, deadline: look + .microseconds(1)) > look + .milliseconds(1)
    )
  }

  @Test func looksOfManyThreadsShareTheirWakeUps() {
    var schedules = [LookSchedule](
      repeating: LookSchedule(threshold: .milliseconds(500), interval: nil), count: 20)
    var wakeUps: Set<Int64> = []
    for index in schedules.indices {
      var look = Instant(nanoseconds: 1_000_000_000 + Int64(index) * 17_000_000)
      for _ in 0..<4 {
        let next = schedules[index].next(after: look, isParked: true, deadline: nil)
        #expect(next > look && next - look <= schedules[index].calmInterval)
        look = next
      }
      wakeUps.insert(look.nanoseconds)
    }
    #expect(wakeUps.count <= 2)
  }

  @Test func looksAreSparseWhileCalmAndFrequentOnceItWorks() {
    var watched = Watched()
    watched.learnEpoll()
    watched.park()
    watched.proceed(.seconds(3), running: false)
    let calm = watched.lookCount
    watched.proceed(.seconds(30), running: false)
    #expect((71...74).contains(watched.lookCount - calm))
    watched.script.run(.milliseconds(20))
    watched.look()
    let alert = watched.lookCount
    watched.proceed(.milliseconds(450), running: true)
    #expect((9...11).contains(watched.lookCount - alert))
  }

  /// Rounds that fit into the distances of looks, or that are as long as those are on the average.
  @Test(
    arguments: [
      10_000, 16_667, 24_000, 25_000, 45_000, 48_000, 50_000, 75_000, 90_000, 100_000, 337_500, 405_000,
      450_000,
    ]
      as [Int64])
  func regularLoopIsSeenAtEveryPointOfItsRounds(microseconds: Int64) {
    let round = Duration.microseconds(microseconds)
    for phase in 0..<10 {
      var watched = Watched()
      watched.script.run(round * phase / 10)
      var foundAfter: Duration?
      let began = watched.script.now
      while watched.script.now < began + .seconds(40) {
        watched.script.block(in: SystemCallNumber.epollWait, 5)
        watched.proceed(round * 3 / 10, running: false)
        watched.proceed(round * 7 / 10, running: true)
        if foundAfter == nil, watched.detector.loop.home?.visits ?? 0 >= 3 {
          foundAfter = watched.script.now - began
        }
      }
      #expect(foundAfter ?? .seconds(40) < .seconds(6), "at phase \(phase)")
      let share = watched.detector.statistics.parkedShare ?? 0
      #expect(abs(share - 0.3) < 0.07, "parked \(share) at phase \(phase)")
      #expect(watched.stalls.isEmpty)
    }
  }
}
