// Whole stacks: look-up addresses of callers, remarks told once, bounded memory.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct SymbolicatorTests {
  private func frame(_ address: UInt64) -> Frame {
    var frame = Frame(programCounter: 0x7000_0000 + address, trust: .exact)
    frame.moduleOffset = address
    frame.module = ModuleReference(path: "/usr/bin/viewer", buildID: "abc")
    return frame
  }

  /// Keeps the file open meanwhile.
  private func name(
    _ frames: inout [Frame], with symbolicator: inout Symbolicator, _ file: borrowing FileDescriptor
  ) {
    let descriptor = file.rawValue
    symbolicator.name(&frames) { _ in descriptor }
  }

  private func file(_ names: String...) throws -> FileDescriptor {
    var builder = ElfBuilder()
    builder.add(names.enumerated().map { TestSymbol(name: $1, address: 0x1000 + 16 * UInt64($0), size: 16) })
    return try memoryFile(builder.bytes)
  }

  @Test("UW-03, UW-04: callers are looked up one byte before, interrupted functions where they were")
  func looksCallersUpOneByteBefore() throws {
    let file = try file("_ZN6Report4loadEi", "callee", "after")
    var symbolicator = Symbolicator()
    // The second frame's call was the last instruction of `load`; the third was interrupted at the start of `callee`.
    var frames = [frame(0x1010), frame(0x1010), frame(0x1010), frame(0x9999)]
    frames[1].isSignalFrame = false
    frames[2].isSignalFrame = true
    name(&frames, with: &symbolicator, file)
    #expect(frames.map { $0.symbol?.escaped } == ["callee", "Report::load(int)", "callee", nil])
    #expect(frames.map { $0.rawSymbol?.escaped } == [nil, "_ZN6Report4loadEi", nil, nil])
    #expect(frames.map(\.symbolOffset) == [0, 16, 0, nil])
  }

  @Test func saysOnceThatAModuleHasNoNames() throws {
    let file = try memoryFile(ElfBuilder().bytes)
    var symbolicator = Symbolicator()
    var frames = [frame(0x1000), frame(0x1010)]
    for _ in 0..<3 { name(&frames, with: &symbolicator, file) }
    let remarks = symbolicator.takeRemarks()
    #expect(remarks.map(\.text) == ["viewer (build-id abc) has no symbols: its functions have no names"])
    #expect(symbolicator.takeRemarks().isEmpty)
    #expect(frames.allSatisfy { $0.symbol == nil })
  }

  @Test func survivesADescriptorThatIsNone() {
    var symbolicator = Symbolicator()
    var frames = [frame(0x1000)]
    symbolicator.name(&frames) { _ in -1 }
    #expect(frames[0].symbol == nil)
    #expect(symbolicator.takeRemarks().map(\.kind) == [.noNames(.unreadable)])
  }

  @Test("SCALE-06: indexes keep within their memory") func keepsWithinItsMemory() throws {
    var symbolicator = Symbolicator(limitBytes: 10_000)
    var largest = 0
    for number in 0..<20 {
      var builder = ElfBuilder()
      builder.add((0..<100).map { TestSymbol(name: "f\(number)", address: 0x1000 + 16 * $0, size: 16) })
      let file = try memoryFile(builder.bytes)
      var frames = [frame(0x1000)]
      name(&frames, with: &symbolicator, file)
      #expect(frames[0].symbol?.escaped == "f\(number)")
      largest = max(largest, symbolicator.byteCount)
    }
    #expect(2000...10_000 ~= largest)
  }

  @Test func noticesAFileRewrittenInPlace() throws {
    let first = try file("before")
    var symbolicator = Symbolicator()
    var frames = [frame(0x1000)]
    name(&frames, with: &symbolicator, first)
    var builder = ElfBuilder()
    builder.add([TestSymbol(name: "rewritten", address: 0x1000, size: 16)])
    try rewrite(first, builder.bytes)
    name(&frames, with: &symbolicator, first)
    #expect(frames[0].symbol?.escaped == "rewritten")
  }
}
