// Records of perf events, read from bytes: sound ones, short ones, and lengths that lie.

import Glibc
import Linux
import Testing

@Suite struct PerfRecordTests {
  private static func words(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  private static func record(_ type: UInt32, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
    let size = UInt64(size ?? body.count + 8)
    return words([UInt64(type) | size << 48]) + body
  }

  private static let layout = PerfSampleLayout(userRegisters: [.rdi, .rsp, .rip, .r8])
  private static let stackLayout = PerfSampleLayout(userRegisters: [.rsp], stackBytes: 16)

  private func records(_ bytes: [UInt8], _ layout: PerfSampleLayout) -> [PerfRecord] {
    var position = 0
    var records: [PerfRecord] = []
    while let record = unsafe PerfRecord.next(in: bytes.span.bytes, at: &position, layout) {
      records.append(record)
    }
    return records
  }

  private func sample(_ bytes: [UInt8], _ layout: PerfSampleLayout) throws -> PerfSample {
    let record = try #require(records(bytes, layout).first)
    guard case .sample(let sample) = record else { throw Errno.invalidArgument }
    return sample
  }

  @Test func registersComeInTheOrderOfTheirNumbers() throws {
    let sample = try sample(Self.record(9, Self.words([77, 2, 5, 7, 8, 16])), Self.layout)
    #expect(sample.atNanoseconds == 77 && sample.stack.isEmpty)
    #expect(sample.registers[.rdi] == 5 && sample.registers[.rsp] == 7)
    #expect(sample.registers[.rip] == 8 && sample.registers[.r8] == 16)
    #expect(sample.registers[.rax] == nil)
  }

  @Test func threadsWithoutWideRegistersHaveNone() throws {
    let none = try sample(Self.record(9, Self.words([77, 0])), Self.layout)
    let narrow = try sample(Self.record(9, Self.words([77, 1, 5, 7, 8, 16])), Self.layout)
    #expect(none.registers[.rsp] == nil && narrow.registers[.rsp] == nil)
  }

  @Test func stackIsAsLongAsItWasFilled() throws {
    let bytes = Self.record(9, Self.words([77, 2, 0x7000, 16, 1, 2, 8]))
    let sample = try sample(bytes, Self.stackLayout)
    #expect(sample.stack.count == 8 && bytes[sample.stack.lowerBound] == 1)
    #expect(try self.sample(Self.record(9, Self.words([77, 2, 0x7000, 0])), Self.stackLayout).stack.isEmpty)
  }

  @Test(
    "lengths that lie",
    arguments: [
      words([77, 2, 0x7000, 17, 1, 2, 8]), words([77, 2, 0x7000, 16, 1, 2, 17]),
      words([77, 2, 0x7000, .max, 1]),
      words([77, 2]), words([.max, 0, 0]), words([77, 2, 0x7000, 16, 1, 2]), [],
    ])
  func whatIsNoSampleIsAGap(_ body: [UInt8]) throws {
    guard case .gap? = records(Self.record(9, body), Self.stackLayout).first else {
      Issue.record("taken for a sample")
      return
    }
  }

  private static let kernelLayout = {
    var layout = stackLayout
    layout.includesKernel = true
    return layout
  }()
  private static let (kernelMark, userMark, guestMark): (UInt64, UInt64, UInt64) = (
    0 &- 128, 0 &- 512, 0 &- 2176
  )
  private static let (inner, outer): (UInt64, UInt64) = (0xFFFF_FFFF_8100_0010, 0xFFFF_FFFF_8200_0000)

  private func kernelAddresses(_ chain: [UInt64]) throws -> [UInt64] {
    let body = [77, UInt64(chain.count)] + chain + [2, 0x7000, 16, 1, 2, 8]
    let sample = try sample(Self.record(9, Self.words(body)), Self.kernelLayout)
    #expect(sample.registers[.rsp] == 0x7000 && sample.stack.count == 8)
    return sample.kernelAddresses
  }

  @Test func callChainOfTheKernelComesBeforeTheRegisters() throws {
    #expect(try kernelAddresses([Self.kernelMark, Self.inner, Self.outer]) == [Self.inner, Self.outer])
    #expect(try kernelAddresses([]) == [])
    #expect(try kernelAddresses([Self.kernelMark]) == [])
  }

  @Test func onlyAddressesOfOurKernelAreTaken() throws {
    let chains = [
      [Self.inner], [Self.userMark, 0x40_1000], [Self.kernelMark, 0x40_1000, 0],
      [Self.guestMark, Self.inner], [Self.kernelMark, Self.userMark, Self.inner],
    ]
    for chain in chains { #expect(try kernelAddresses(chain) == []) }
    let mixed = [Self.kernelMark, Self.inner, Self.userMark, 0x40_1000, Self.kernelMark, Self.outer]
    #expect(try kernelAddresses(mixed) == [Self.inner, Self.outer])
  }

  @Test func endlessCallChainIsCut() throws {
    let chain = [Self.kernelMark] + [UInt64](repeating: Self.inner, count: 4096)
    #expect(try kernelAddresses(chain).count == 127)
  }

  @Test(
    "call chains that are longer than their record",
    arguments: [
      [77, .max], [77, 1 << 61, inner], [77, 3, kernelMark, inner], [77, 2, kernelMark, inner], [77],
    ])
  func callChainThatLiesIsAGap(_ body: [UInt64]) throws {
    guard case .gap? = records(Self.record(9, Self.words(body)), Self.kernelLayout).first else {
      Issue.record("taken for a sample")
      return
    }
  }

  @Test func recordsThatDoNotFitEndTheList() {
    let sound = Self.record(1, [])
    for broken in [
      Self.record(9, [], size: 0), Self.record(9, [], size: 7), Self.record(9, [], size: 16), [9],
    ] {
      #expect(records(sound + broken + sound, Self.layout).count <= 2)
      #expect(records(broken, Self.layout).isEmpty)
    }
  }

  @Test func throttledEventIsAGap() {
    guard case .gap? = records(Self.record(5, Self.words([1, 2, 3])), Self.layout).first else {
      Issue.record("not noticed")
      return
    }
  }

  @Test("what found no room is counted", arguments: [(UInt32(2), UInt64(7)), (UInt32(13), UInt64(40))])
  func lossIsCounted(_ type: UInt32, _ count: UInt64) {
    guard case .lost(count)? = records(Self.record(type, Self.words([40, 7])), Self.layout).first else {
      Issue.record("not counted")
      return
    }
  }

  @Test(arguments: [UInt32(2), 13]) func lossWithoutACountIsAGap(_ type: UInt32) {
    guard case .gap? = records(Self.record(type, [1, 2, 3]), Self.layout).first else {
      Issue.record("taken for a count")
      return
    }
  }
}
