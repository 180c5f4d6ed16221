// Copied stacks and registers together with the unwind tables that they are walked by.

import Linux
import Stacks
import StallCore

extension FuzzedParser {
  static var stacks: [FuzzedParser] {
    let unwinder = Unwinder()
    return [
      FuzzedParser("walk", seeds: HostileStack.seeds) { bytes in
        let stack = HostileStack(bytes)
        let walk = unwinder.walk(stack.snapshot, in: stack.space)
        check(walk, stack.space)
        guard let main = MainFunction(in: walk, stack.space) else { return }
        _ = main.place(startOfCalled: nil)
      },
      FuzzedParser("instructions", seeds: [[0x41, 0xFF, 0x94, 0x24, 1, 2, 3], [0xE8, 1, 2, 3, 4]]) {
        _ = Instructions.endInCall(Array($0.suffix(Instructions.longestCall)))
      },
      FuzzedParser("unwind-rules", seeds: HostileRules.seeds) { bytes in
        let rules = HostileRules(bytes)
        check(unwinder.walk(rules.snapshot, in: rules.space), rules.space)
      },
      FuzzedParser("signal-frame", seeds: [signalFrame], run: findSignalFrame),
      FuzzedParser("sample-rest", seeds: [[0, 0] + Array(0...255)], run: completeSample),
    ]
  }

  /// Flags, no link, an alternate stack that holds the frame, and the stack pointer of the interrupted one.
  private static var signalFrame: [UInt8] {
    var words = [UInt64](repeating: 0, count: 24)
    (words[1], words[2], words[4], words[6], words[22]) = (0, 7, signalStack, 0x4000, 0x7FFF_0000)
    return words.flatMap(\.inputBytes)
  }

  private static let signalStack: UInt64 = 0x1000

  private static func findSignalFrame(_ bytes: [UInt8]) {
    for start in [signalStack, 0, .max - 64] as [UInt64] {
      unsafe bytes.withUnsafeBytes { _ = unsafe SignalFrame.otherStackPointer(in: $0, at: start) }
    }
  }

  /// The last bytes of a sample are found again in a copy that begins somewhere before them, or not.
  private static func completeSample(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let start = UInt64(input.number(UInt16.self))
    let count = Int(StackSampler.stackBytes)
    let period = max(1, input.rest.count)
    let stack = (0..<count).map { input.rest.isEmpty ? 0 : input.rest[input.rest.startIndex + $0 % period] }
    var registers = Registers()
    registers[Registers.stackPointer] = start &* 3
    registers[Registers.programCounter] = 0x1000
    let sample = StackSample(at: Instant(nanoseconds: 0), registers: registers, stack: stack)
    let base = ThreadSnapshot(
      threadID: 1, way: .ptrace, registers: registers, stackAddress: start, stackBytes: stack + stack,
      stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
    guard let whole = try? RawCapture(sample, threadID: 1, completedBy: base),
      let snapshot = try? whole.snapshot()
    else { return }
    expect(snapshot.stackBytes.starts(with: stack), "the sample is not what its copy begins with")
  }

  private static func check(_ walk: Walk, _ space: AddressSpace) {
    expect(walk.frames.count <= 256, "the walk has no limit")
    for (index, walked) in walk.frames.enumerated().dropFirst() {
      let counter = walked.frame.programCounter
      let isInterrupted = walk.frames[index - 1].frame.isSignalFrame
      expect(
        isInterrupted || space.isExecutable(counter) || space.isExecutable(counter &- 1), "a frame is no code"
      )
    }
  }
}

/// A thread in a program whose file was tampered with.
struct HostileStack {
  private static let loadBias: UInt64 = 0x5555_5555_4000
  private static let stackStart: UInt64 = 0x7FFF_FFFD_E000
  private static let stackEnd: UInt64 = 0x7FFF_FFFF_F000
  private static let registersSeen = Registers.count

  private static let sound = image(ModuleFile.original)
  private static let text = sound?.segments.first { $0.isExecutable }
  private static let map = MemoryMap(parsing: Array(mapText.utf8))

  let snapshot: ThreadSnapshot
  let space: AddressSpace

  /// Each register, a number of stack words and these, then the changes to the file (`ModuleFile.patched`).
  init(_ bytes: [UInt8]) {
    var input = Input(bytes)
    var registers = Registers()
    for number in 0..<Self.registersSeen { registers[number] = Self.word(&input) }
    let count = Int(input.number(UInt8.self))
    let words = (0..<count).map { _ in Self.word(&input) ?? 0 }
    snapshot = ThreadSnapshot(
      threadID: 1, way: .ptrace, registers: registers, stackAddress: Self.stackStart,
      stackBytes: words.flatMap(\.inputBytes), stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
    let image = Self.image(ModuleFile.patched(Array(input.rest)))
    space = AddressSpace(map: Self.map) { $0.hasFile ? image : nil }
  }

  /// Unknown, a place in the code, a place in the stack, or anything.
  private static func word(_ input: inout Input) -> UInt64? {
    switch input.number(UInt8.self) & 3 {
    case 0: nil
    case 1: loadBias &+ (text?.virtualAddress ?? 0) &+ UInt64(input.number(UInt16.self))
    case 2: stackStart &+ UInt64(input.number(UInt16.self))
    default: input.number()
    }
  }

  private static func image(_ file: [UInt8]) -> ElfImage? {
    try? ElfImage(
      pages: FilePages(contents: file), identity: FileIdentity(deviceMajor: 8, deviceMinor: 1, inode: 1))
  }

  private static var mapText: String {
    func hex(_ value: UInt64) -> String { String(value, radix: 16) }
    var lines = ""
    for segment in sound?.segments ?? [] {
      let start = loadBias &+ segment.virtualAddress & ~4095
      let end = (loadBias &+ segment.virtualAddress &+ segment.memorySize &+ 4095) & ~4095
      let rights = segment.isExecutable ? "r-xp" : "r--p"
      lines += "\(hex(start))-\(hex(end)) \(rights) \(hex(segment.fileOffset & ~4095)) 08:01 1 /program\n"
    }
    return lines + "\(hex(stackStart))-\(hex(stackEnd)) rw-p 0 00:00 0 [stack]\n"
  }
}

extension HostileStack {
  /// A sound stack of code addresses everywhere in the program, and one change to its tables each.
  static var seeds: [[UInt8]] {
    guard let table = sound?.unwindTable, let text else { return [] }
    let places = stride(from: 0, to: min(text.fileSize, 65_536), by: 24).map { UInt16($0) }
    let plain = places.map { sound(at: $0, places) }
    // `.eh_frame` follows its table, and the header of the table is among the program headers.
    let changed = stride(from: Int(table.fileOffset), to: ModuleFile.original.count, by: 8).prefix(256)
      .enumerated()
      .map { number, place in plain[number % plain.count] + ModuleFile.patch(at: place) }
    let withoutTable = plain.prefix(16).map { $0 + withoutTablePatch }
    return plain + changed + withoutTable
  }

  private static func sound(at place: UInt16, _ places: [UInt16]) -> [UInt8] {
    var bytes: [UInt8] = []
    for number in 0..<registersSeen {
      switch number {
      case Registers.programCounter: bytes += [1] + place.inputBytes
      case Registers.stackPointer: bytes += [2] + UInt16(64).inputBytes
      default: bytes += [2] + UInt16(128 + 8 * number).inputBytes
      }
    }
    bytes.append(96)
    for word in 0..<96 {
      let code = places[(word &* 7 &+ Int(place)) % places.count]
      bytes += word % 2 == 0 ? [1] + (code &+ 5).inputBytes : [2] + UInt16(8 * word + 32).inputBytes
    }
    return bytes
  }

  /// Makes the type of PT_GNU_EH_FRAME unknown, so that the rules are found through the sections.
  private static var withoutTablePatch: [UInt8] {
    let headers = stride(from: 64, to: 64 + 56 * Int(ModuleFile.original[56]), by: 56)
    let header = headers.first { ModuleFile.original.littleEndian(at: $0, count: 4) == 0x6474_E550 } ?? 64
    return [UInt8(header & 255), UInt8(header >> 8), 0, 0, 0]
  }
}
