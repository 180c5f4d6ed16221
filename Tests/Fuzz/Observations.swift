// Words of the target's memory and counters of its threads, as rules and models take them.

import Diagnosis
import Observation
import StallCore

extension FuzzedParser {
  static var observations: [FuzzedParser] {
    [
      FuzzedParser("evidence", seeds: lockWords + links, run: judge),
      FuzzedParser("lock-chain", seeds: chains, run: follow),
      FuzzedParser("descriptor-set", seeds: descriptorSets, run: readDescriptors),
      FuzzedParser("stall-detector", seeds: looks, run: observe),
    ]
  }

  private static let callNumbers = [
    SystemCallNumber.futex, SystemCallNumber.futexWait, SystemCallNumber.poll, SystemCallNumber.select,
    SystemCallNumber.epollWait, SystemCallNumber.read, SystemCallNumber.nanosleep, SystemCallNumber.wait4,
    SystemCallNumber.restartSyscall, SystemCallNumber.ppoll, SystemCallNumber.pselect6,
    SystemCallNumber.ioUringEnter,
  ]

  private static func call(_ input: inout Input) -> BlockedCall {
    let selector = Int(input.number(UInt8.self))
    let number = selector < callNumbers.count ? callNumbers[selector] : Int(input.number(UInt32.self))
    let arguments = InlineArguments(input.number(), input.number(), input.number(), input.number())
    return BlockedCall(
      number: number, arguments: arguments, stackPointer: 0x7FFF_0000 + UInt64(input.number(UInt8.self)),
      programCounter: UInt64(input.number(UInt8.self)))
  }

  private static func bytes(of call: UInt8, _ arguments: UInt64...) -> [UInt8] {
    [call] + arguments.flatMap(\.inputBytes) + [0, 0]
  }

  private static var lockWords: [[UInt8]] {
    let mutex: [UInt32] = [2, 0, 77, 1, 0, 0]
    let wait = bytes(of: 0, 0x1000, 128, 2, 0)
    return [wait + mutex.flatMap(\.inputBytes), bytes(of: 0, 0x1000, 6, 0, 0) + UInt64(78).inputBytes]
  }

  private static var links: [[UInt8]] {
    ["/tmp/a", "socket:[1]", "pipe:[2]", "anon_inode:[eventfd]", "/dev/pts/0"].map {
      bytes(of: 5, 3, 0, 0, 0) + [UInt8](repeating: 0, count: LockWord.length) + Array($0.utf8)
    }
  }

  private static func judge(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let call = call(&input)
    let memory = input.take(LockWord.length)
    let functions = [ByteString(input.rest)]
    var evidence = Evidence(threadID: 7, state: .sleeping, activity: .blocked(call), functions: functions)
    evidence.waitChannel = functions.first
    evidence.lock = LockWord(call, bytes: memory, functions: functions)
    evidence.holder = Evidence.Thread(id: 7, name: functions.first)
    evidence.descriptor = DescriptorLink(number: 3, text: ByteString(input.rest))
    expect(!CauseRules.cause(of: evidence).summary.isEmpty, "a cause without a sentence")
  }

  /// For each link who holds it, and whether the waiter moved.
  private static var chains: [[UInt8]] { [[2, 0, 1, 0, 2, 0, 1, 0], [1, 0, 1, 0], Array(0..<64)] }

  private static func follow(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let wait = call(&input)
    func thread(_ id: Int32) -> Evidence.Thread { Evidence.Thread(id: id, name: nil) }
    let chain = LockChain(from: 1) { waiter in
      if input.isEmpty { return nil }
      let holder = Int32(input.number(UInt8.self) & 15)
      return LockWait(
        waiter: thread(waiter), call: wait, timesScheduled: UInt64(input.number(UInt8.self) >> 6),
        lock: .mutex(owner: holder), holder: thread(holder))
    }
    expect(chain.waits.count <= LockChain.mostWaits, "the chain has no limit")
    if case .ring(let start) = chain.end {
      expect(chain.waits[start].waiter == chain.waits.last?.holder, "a ring that is not closed")
    }
    var evidence = Evidence(threadID: 1, state: .sleeping, activity: .blocked(wait))
    (evidence.lock, evidence.holder) = (chain.waits.first?.lock, chain.waits.first?.holder)
    evidence.chain = chain
    let cause = CauseRules.cause(of: evidence)
    expect(cause.kind != .deadlock || chain.end != .free, "a deadlock without a ring")
  }

  private static var descriptorSets: [[UInt8]] {
    [
      bytes(of: 2, 0x1000, 3, 0, 0) + [3, 7, 5].flatMap { (UInt64($0) as UInt64).inputBytes },
      bytes(of: 3, 200, 0x1000, 0, 0x2000) + [0xFF, 0, 0x80, 1],
      bytes(of: 2, 0x1000, 0xFFFF_FFFF, 0, 0) + UInt64.max.inputBytes,
    ]
  }

  private static func readDescriptors(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let call = call(&input)
    var buffer = [UInt8](repeating: 0, count: DescriptorReader.mostBytes)
    let set = DescriptorReader.descriptors(of: call, memory: &buffer) { _, length, buffer in
      expect(length <= buffer.count, "more is asked for than there is room")
      for place in 0..<min(length, buffer.count) { buffer[place] = input.number() }
      return true
    }
    let elements = set?.elements ?? []
    expect(elements == Array(Set(elements)).sorted(), "the set is out of order")
    _ = set?.intersection(DescriptorSet(0..<8))
  }

  private static var looks: [[UInt8]] {
    let parked: [UInt8] = [0, 20, 1, 0, 0, 1, 1] + bytes(of: 4, 7, 0, 0, 0)
    let working: [UInt8] = [1, 200, 200, 0, 0, 1, 1] + bytes(of: 5, 9, 0, 0, 0)
    return [
      parked + parked + working + working + working + parked, working + parked,
      parked + [7] + working.dropFirst(),
    ]
  }

  /// Counters of the kernel go forward, except where ids are used again; time goes forward always.
  private static func observe(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let detector = StallDetector(threshold: .milliseconds(100), interval: nil)
    var at = Instant(nanoseconds: 1_000_000_000)
    while !input.isEmpty {
      let kind = input.number(UInt8.self)
      at = at + .milliseconds(Int64(input.number(UInt8.self)))
      let cpuTime = Duration.milliseconds(Int64(input.number(UInt16.self)))
      let times = UInt64(input.number(UInt16.self))
      let states: [ThreadState] = [
        .sleeping, .uninterruptible, .running, .stopped, .traced, .frozen, .zombie,
      ]
      let call = call(&input)
      var look = ThreadObservation(
        at: at, state: states[Int(kind >> 2) % states.count], activity: .blocked(call), cpuTime: cpuTime,
        runQueueDelay: .milliseconds(Int64(kind)), timesScheduled: times, voluntarySwitches: times / 2)
      if kind & 3 == 1 { look.activity = .running }
      if kind & 3 == 2 { look.activity = .unknown }
      if kind & 64 != 0 { look.descriptors = DescriptorSet([3, Int32(kind)]) }
      let (_, next) = detector.observe(look) {
        kind & 128 == 0 ? nil : BlockStart(latest: at - .milliseconds(50), earliest: at - .milliseconds(60))
      }
      expect(next > at, "the next look is not in the future")
    }
    _ = detector.interrupt(.watchEnded)
  }
}
