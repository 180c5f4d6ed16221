// The notice of a loop that was found, and stalls of it.

import Reports
import StallCore

func loopFound(_ family: String) -> NoticeRecord {
  var reading = StackReading()
  (reading.loopFamily, reading.nesting) = (family, 2)
  return NoticeRecord(
    .loopFound, "loop found: epoll 7 (\(family)), parked 99 %, nested 2 deep",
    loop: LoopRecord(
      threadID: 4242, home: HomeSelector("epoll:7"), reading: reading, parkedShare: 0.99))
}

func stallRecord(
  _ stall: Stall, at seconds: Double, cause: Cause? = disk, repetition: Repetition = Repetition(),
  stacks: [Stack] = [loading], loopNesting: Int = 0
) -> StallRecord {
  StallRecord(
    stall, at: moment(seconds), thread: mainThread, cause: cause, repetition: repetition, stacks: stacks,
    loopNesting: loopNesting)
}
