// From addresses to names: which symbol covers an address, and what damaged files do.

import Glibc
import Linux
import StallCore
import Symbols
import Testing

@Suite struct SymbolIndexTests {
  private func index(_ symbols: [TestSymbol]) throws -> SymbolIndex {
    var builder = ElfBuilder()
    builder.add(symbols)
    return try symbolIndex(of: memoryFile(builder.bytes))
  }

  private func name(_ index: SymbolIndex, _ address: UInt64) -> String? {
    index.match(address)?.rawName.escaped
  }

  @Test("SYM-10: a symbol reaches as far as its size says") func respectsSizes() throws {
    let index = try index([
      TestSymbol(name: "foo", address: 0x1000, size: 16), TestSymbol(name: "baz", address: 0x2000, size: 16),
    ])
    #expect(name(index, 0xFFF) == nil)
    #expect(name(index, 0x1000) == "foo")
    #expect(name(index, 0x100F) == "foo")
    #expect(name(index, 0x1010) == nil)
    #expect(name(index, 0x2008) == "baz")
    #expect(index.match(0x2008)?.start == 0x2000)
    #expect(name(index, .max) == nil)
  }

  @Test("SYM-10: symbols without size reach to the next symbol, the end of the section or a limit")
  func symbolsWithoutSizeReachToTheNextSymbolSectionEndOrLimit() throws {
    let index = try index([
      TestSymbol(name: "start", address: 0x1000, size: 0), TestSymbol(name: "next", address: 0x1100, size: 8),
      TestSymbol(name: "far", address: 0x3000, size: 0), TestSymbol(name: "last", address: 0x8F00, size: 0),
    ])
    #expect(name(index, 0x10FF) == "start")
    #expect(name(index, 0x1108) == nil)
    #expect(name(index, 0x3000 + SymbolIndex.reachWithoutSize - 1) == "far")
    #expect(name(index, 0x3000 + SymbolIndex.reachWithoutSize) == nil)
    #expect(name(index, 0x8FFF) == "last")
    #expect(name(index, 0x9000) == nil)
  }

  @Test func functionsMayNestAndLabelsInsideThemDoNotCount() throws {
    let index = try index([
      TestSymbol(name: "outer", address: 0x1000, size: 0x100),
      TestSymbol(name: "inner", address: 0x1020, size: 0x10),
      TestSymbol(name: "label", address: 0x1080, size: 0, type: 0, binding: 0),
    ])
    #expect(name(index, 0x1010) == "outer")
    #expect(name(index, 0x102F) == "inner")
    #expect(name(index, 0x1030) == "outer")
    #expect(name(index, 0x1090) == "outer")
  }

  @Test(
    "SYM-15: of several names the choice is always the same",
    arguments: [
      ([("local", 0), ("weak", 2), ("global", 1)], "global"),
      ([("local", 0), ("weak", 2)], "weak"),
      ([("_write", 1), ("write_it", 1)], "write_it"),
      ([("read64", 1), ("read", 1)], "read"),
      ([("abd", 1), ("abc", 1)], "abc"),
    ])
  func picksOneOfSeveralNames(names: [(String, UInt8)], expected: String) throws {
    for names in [names, names.reversed()] {
      let index = try index(names.map { TestSymbol(name: $0.0, address: 0x1000, size: 8, binding: $0.1) })
      #expect(name(index, 0x1004) == expected)
    }
  }

  @Test func findsEachOfManyInAnyOrder() throws {
    var generator = SeededGenerator(state: 7)
    let symbols = (0..<2000).map { TestSymbol(name: "f\($0)", address: 0x1000 + 16 * $0, size: 12) }
    let index = try index(symbols.shuffled(using: &generator))
    for (number, symbol) in symbols.enumerated() {
      #expect(name(index, symbol.address) == "f\(number)")
      #expect(name(index, symbol.address + 11) == "f\(number)")
      #expect(name(index, symbol.address + 12) == nil)
    }
  }

  /// Names are read in pieces of 256 bytes.
  @Test(arguments: [1, 255, 256, 257, 512, 5000])
  func readsNamesOfAnyLength(length: Int) throws {
    let long = String(repeating: "n", count: length)
    let index = try index([
      TestSymbol(name: long, address: 0x1000, size: 8), TestSymbol(name: "other", address: 0x1010, size: 8),
    ])
    #expect(name(index, 0x1000) == long)
    #expect(name(index, 0x1010) == "other")
  }

  @Test func ofSeveralSizesOfOnePlaceTheLargestCounts() throws {
    let index = try index([
      TestSymbol(name: "a", address: 0x1000, size: 8), TestSymbol(name: "bb", address: 0x1000, size: 32),
    ])
    #expect(name(index, 0x101F) == "a")
    #expect(index.match(0x1000)?.aliases == [ByteString("bb")])
  }

  @Test func ignoresWhatIsNoFunctionOfTheModule() throws {
    let index = try index([
      TestSymbol(name: "f", address: 0x1000, size: 8, type: 10),
      TestSymbol(name: "object", address: 0x1010, size: 8, type: 1),
      TestSymbol(name: "imported", address: 0x1020, size: 8, section: 0),
      TestSymbol(name: "outside", address: 0x9000, size: 8),
      TestSymbol(name: "nowhere", address: 0x1030, size: 8, section: 77),
      TestSymbol(name: "endless", address: 0x2000, size: 1 << 63),
    ])
    #expect(index.count == 2)
    #expect(name(index, 0x1000) == "f")
    #expect(name(index, 0x8FFF) == "endless")
    #expect(name(index, 0x9000) == nil)
  }

  @Test("UW-10: jumps to other modules are named") func namesJumpsToOtherModules() throws {
    var builder = ElfBuilder()
    let table = builder.add(
      [
        TestSymbol(name: "here", address: 0x1000, size: 8),
        TestSymbol(name: "puts", address: 0, size: 0, section: 0),
        TestSymbol(name: "read", address: 0, size: 0, section: 0),
      ], type: 11)
    builder.addLinkageTable(symbols: [3, 2], dynamicTable: table)
    let index = try symbolIndex(of: memoryFile(builder.bytes))
    #expect(index.coverage == .exported)
    #expect(name(index, 0x1004) == "here")
    #expect(name(index, 0x10008) == nil)
    #expect(name(index, 0x10014) == "read@plt")
    #expect(name(index, 0x10020) == "puts@plt")
  }

  @Test func namesOwnCLibrary() throws {
    let maps = String(decoding: try readPseudoFile("/proc/self/maps", limit: 1 << 20), as: UTF8.self)
    let first = try #require(maps.split(separator: "\n").first { $0.hasSuffix("/libc.so.6") })
    let base = try #require(UInt64(first.prefix { $0 != "-" }, radix: 16))
    let path = try #require(first.split(separator: " ").last)
    let offset = unsafe UInt64(UInt(bitPattern: dlsym(nil, "malloc"))) - base
    let index = try symbolIndex(of: FileDescriptor.open(String(path)))
    #expect(name(index, offset) == "malloc")
  }

  @Test func refusesWhatIsNoELF() throws {
    func failure(_ file: borrowing FileDescriptor) -> SymbolFailure? {
      do throws(SymbolFailure) {
        _ = try symbolIndex(of: file)
        return nil
      } catch { return error }
    }
    #expect(failure(try memoryFile(Array("#!/bin/sh\n".utf8))) == .notELF)
    #expect(failure(try memoryFile([])) != nil)
    #expect(failure(try FileDescriptor.open("/dev/zero")) == .notELF)
    #expect(failure(try memoryFile(ElfBuilder().bytes)) == .noSymbols)
    var cut = ElfBuilder()
    cut.add([TestSymbol(name: "f", address: 0x1000, size: 8)])
    #expect(failure(try memoryFile(Array(cut.bytes.dropLast(100)))) == .damaged)
  }
}
