// Walking stacks and registers that were cut, overwritten or made up: every walk ends, and says how.

import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@Suite struct DamagedStackTests {
  /// Splitmix64 (Steele, Lea, Flood 2014): the same numbers in every run.
  struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
  }

  @Test func endsWhereTheCopyEnds() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let whole = Unwinder().walk(captured.snapshot, in: captured.space)
    var lengths: Set<Int> = []
    for kept in stride(from: 0, through: captured.snapshot.stackBytes.count, by: 8) {
      var snapshot = captured.snapshot
      snapshot.stackBytes = Array(snapshot.stackBytes[..<kept])
      let walk = Unwinder().walk(snapshot, in: captured.space)
      #expect(walk.end == (walk.frames.count == whole.frames.count ? .root : .missingBytes))
      #expect(zip(walk.frames, whole.frames).allSatisfy { $0.frame == $1.frame })
      lengths.insert(walk.frames.count)
    }
    #expect(lengths == Set(1...whole.frames.count))
  }

  @Test func endsAtTheLimit() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let walk = Unwinder().walk(captured.snapshot, in: captured.space, limit: 3)
    #expect(walk.frames.count == 3)
    #expect(walk.end == .limit)
  }

  /// As from `task/TID/syscall`: only pc and sp. Rules that count from rsp still work; where rbp is needed, it ends.
  @Test func endsWhereARegisterIsNotKnown() throws {
    let captured = try StoppedStack("walk-rules").capture()
    var snapshot = captured.snapshot
    snapshot.registers = Registers()
    #expect(Unwinder().walk(snapshot, in: captured.space).end == .notCaptured)
    snapshot.registers[Registers.programCounter] = captured.snapshot.registers.programCounter
    snapshot.registers[Registers.stackPointer] = captured.snapshot.registers.stackPointer
    let whole = Unwinder().walk(captured.snapshot, in: captured.space)
    let walk = Unwinder().walk(snapshot, in: captured.space)
    #expect(walk.frames.count > 1)
    #expect(zip(walk.frames, whole.frames).allSatisfy { $0.frame == $1.frame })
    #expect(walk.end == .missingBytes)
  }

  @Test(
    "UW-02: a damaged stack gives no guess outside of code",
    arguments: ["walk-rules", "walk-frame-pointer", "walk-null"])
  func survivesDamage(_ program: String) throws {
    let captured = try StoppedStack(program).capture()
    let executable = captured.space.map.regions.filter(\.isExecutable)
    let unwinder = Unwinder()
    var numbers = Numbers(state: 1)
    for _ in 0..<1_000 {
      var snapshot = captured.snapshot
      for _ in 0..<Int.random(in: 1...8, using: &numbers) {
        let value = Self.value(snapshot, executable, &numbers)
        if Bool.random(using: &numbers) {
          snapshot.registers[Int.random(in: 0..<Registers.count, using: &numbers)] = value
        } else {
          let position = Int.random(in: 0..<min(snapshot.stackBytes.count, 2048) - 8, using: &numbers) & ~7
          snapshot.stackBytes.replaceSubrange(position..<(position + 8), with: Self.bytes(of: value ?? 0))
        }
      }
      let walk = unwinder.walk(snapshot, in: captured.space)
      #expect((0...256).contains(walk.frames.count))
      for walked in walk.frames.dropFirst() where walked.frame.trust != .exact {
        #expect(captured.space.isExecutable(walked.frame.programCounter &- 1))
      }
    }
  }

  /// Bytes of the program's own headers, tables and rules are changed.
  @Test("SYM-24: damaged tables of rules do no harm") func survivesDamagedTables() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let own = try #require(captured.ownImage)
    let table = try #require(own.unwindTable)
    let withoutTable = try captured.ownFileWithoutTable()
    let intact = try captured.ownFile()
    var numbers = Numbers(state: 3)
    let unwinder = Unwinder()
    for _ in 0..<1_000 {
      var contents = Bool.random(using: &numbers) ? withoutTable : intact
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        // `.eh_frame` lies just before or just after its table.
        let place = Int(table.fileOffset) + Int.random(in: -1536..<1536, using: &numbers)
        let position =
          Int.random(in: 0..<8, using: &numbers) == 0 ? place & 1023 : min(place, contents.count - 1)
        contents[position] = UInt8.random(in: 0...255, using: &numbers)
      }
      let damaged = try? ElfImage(pages: FilePages(contents: contents), identity: own.identity)
      let walk = unwinder.walk(captured.snapshot, in: captured.space(with: damaged))
      #expect((1...256).contains(walk.frames.count))
    }
  }

  /// Bytes of rules for debuggers are changed, and of a stream that they are taken from.
  @Test(arguments: [false, true])
  func survivesDamagedDebugRules(isCompressed: Bool) throws {
    let captured = try StoppedStack("walk-debug-rules").capture()
    let own = try #require(captured.ownImage)
    let section = try #require(own.section(named: ".debug_frame"))
    let bytes = try #require(own.contents(ofSection: ".debug_frame", limit: 1 << 20))
    let plain = try captured.ownFile()
    let intact = isCompressed ? try #require(plain.compressing(section, bytes)) : plain
    let start = isCompressed ? plain.count : Int(section.fileOffset)
    let end = isCompressed ? intact.count : start + bytes.count
    var numbers = Numbers(state: 4)
    let unwinder = Unwinder()
    for _ in 0..<400 {
      var contents = intact
      for _ in 0..<Int.random(in: 1...3, using: &numbers) {
        contents[Int.random(in: start..<end, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
      }
      let damaged = try? ElfImage(pages: FilePages(contents: contents), identity: own.identity)
      let walk = unwinder.walk(captured.snapshot, in: captured.space(with: damaged))
      #expect((2...256).contains(walk.frames.count))
    }
  }

  /// Words that lead somewhere: into the stack, into code, just anywhere, and the edges of the number range.
  private static func value(
    _ snapshot: ThreadSnapshot, _ executable: [MemoryRegion], _ numbers: inout Numbers
  ) -> UInt64? {
    switch Int.random(in: 0..<6, using: &numbers) {
    case 0: return snapshot.stackAddress &+ UInt64.random(in: 0..<4096, using: &numbers)
    case 1, 2:
      let region = executable.randomElement(using: &numbers)
      return region.map { UInt64.random(in: $0.start..<$0.end, using: &numbers) }
    case 3: return numbers.next()
    case 4: return [0, 1, 7, .max, .max - 7, 1 << 63, 1 << 47].randomElement(using: &numbers)
    default: return snapshot.stackAddress &+ UInt64.random(in: 0..<512, using: &numbers) & ~7
    }
  }

  private static func bytes(of word: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
  }

  @Test func survivesNoise() throws {
    let captured = try StoppedStack("walk-rules").capture()
    let unwinder = Unwinder()
    var numbers = Numbers(state: 2)
    for _ in 0..<1_000 {
      var snapshot = captured.snapshot
      snapshot.stackBytes = (0..<512).flatMap { _ in Self.bytes(of: numbers.next()) }
      let walk = unwinder.walk(snapshot, in: captured.space)
      #expect(walk.end != .root)
    }
  }
}
