// Executables and libraries, which whoever is watched has written.

import Linux
import StallCore
import Symbols
import TestSupport

extension FuzzedParser {
  static var moduleFiles: [FuzzedParser] {
    [
      FuzzedParser("elf-image", seeds: [ModuleFile.headers, ModuleFile.sectionsOnly], run: readImage),
      FuzzedParser("symbol-index", seeds: ModuleFile.patchSeeds) { readSymbols(ModuleFile.patched($0)) },
      FuzzedParser("symbol-search", seeds: ModuleFile.patchSeeds) { findSymbols(ModuleFile.patched($0)) },
      FuzzedParser("perf-map", texts: perfMaps, run: readPerfMap),
      FuzzedParser("debug-information", seeds: ModuleFile.debugSeeds) {
        readLines(ModuleFile.patched($0))
      },
    ]
  }

  private static func readImage(_ bytes: [UInt8]) {
    let identity = FileIdentity(deviceMajor: 0, deviceMinor: 0, inode: 1)
    guard let image = try? ElfImage(pages: FilePages(contents: bytes), identity: identity) else { return }
    _ = image.section(named: ".eh_frame")
    for region in regions.regions { _ = image.loadBias(of: region) }
  }

  /// Its beginning, a later page, and the last one that can be.
  private static let regions = MemoryMap(
    parsing: Array(
      """
      1000-2000 r-xp 0 08:01 1 /a
      2000-3000 r--p 1000 08:01 1 /a
      ffffffffffffe000-fffffffffffff000 r-xp fffffffffffff000 08:01 1 /a

      """.utf8))

  private static func findSymbols(_ file: [UInt8]) {
    let identity = FileIdentity(deviceMajor: 0, deviceMinor: 0, inode: 1)
    guard let image = try? ElfImage(pages: FilePages(contents: file), identity: identity) else { return }
    for name in ["main", "no such name", ""] { _ = image.address(ofSymbol: name) }
  }

  private static func readSymbols(_ file: [UInt8]) {
    let bytes = unsafe file.span.bytes
    guard let held = try? SealedBytes.copy(bytes),
      let index = try? SymbolIndex(descriptor: held.rawDescriptor)
    else { return }
    for address in stride(from: UInt64(0), to: UInt64(file.count) + 0x3000, by: 0x151) {
      guard let match = index.match(address) else { continue }
      expect(match.start <= address, "a function that begins later covers the address")
    }
  }
}

extension FuzzedParser {
  private static let perfMaps = [
    "7f00 10 a\n7f08 20 b c\n7f00 4 again\n", "0xffffffffffffffff 1 last\n0 ffffffffffffffff all\n",
    "1000 10 cut",
  ]

  private static func readPerfMap(_ text: [UInt8]) {
    let bytes = unsafe text.span.bytes
    guard let held = try? SealedBytes.copy(bytes), let map = try? PerfMap(descriptor: held.rawDescriptor)
    else { return }
    for address: UInt64 in [0, 0x1000, 0x7F00, 0x7F0C, .max] {
      guard let found = map.name(for: address) else { continue }
      expect(found.start <= address, "code that begins later covers the address")
    }
  }

  /// Source lines and inlined calls of every function of the program, for half a second at most.
  private static func readLines(_ file: [UInt8]) {
    let bytes = unsafe file.span.bytes
    guard let held = try? SealedBytes.copy(bytes) else { return }
    var symbolicator = Symbolicator(debugFiles: DebugFileSearch(directories: []))
    for address in stride(from: UInt64(0x850), to: 0xC00, by: 0x25) {
      var frame = Frame(programCounter: address, trust: .exact)
      frame.moduleOffset = address
      symbolicator.name(&frame, lookup: address, descriptor: held.rawDescriptor)
      let end = Clock.monotonicNanoseconds + 500_000_000
      _ = symbolicator.expand(frame, lookup: address, descriptor: held.rawDescriptor, deadline: end)
    }
  }
}

/// The file of a small program of this package, and changes to it: a whole file would be too large to be an input.
enum ModuleFile {
  static let original = (try? FileDescriptor.open(builtProduct("TestTailCall")).readAll(limit: 1 << 20)) ?? []

  /// Changes a file: each record is a 24-bit place, a width of 1 to 8, and as many bytes; the first one cuts it if its
  /// top bit is set.
  static func patched(_ input: [UInt8], _ file: [UInt8] = original) -> [UInt8] {
    var input = Input(input)
    var bytes = file
    while !input.isEmpty, !bytes.isEmpty {
      let place = Int(input.number(UInt16.self)) | Int(input.number(UInt8.self)) << 16
      let width = input.number(UInt8.self)
      if width & 0x80 != 0 {
        bytes.removeLast(place % bytes.count)
      } else {
        let start = place % bytes.count
        let end = min(bytes.count, start + 1 + Int(width & 7))
        let values = input.take(end - start)
        bytes.replaceSubrange(start..<start + values.count, with: values)
      }
    }
    return bytes
  }

  /// For each place that matters one record that changes nothing there.
  static var patchSeeds: [[UInt8]] {
    var places = [40, 56]
    for header in sectionHeaders {
      places += [4, 8, 16, 24, 32, 40, 56].map { header + $0 }
      // Symbols, strings, relocations, dynamic symbols, elf(5).
      guard [2, 3, 4, 11].contains(original.littleEndian(at: header + 4, count: 4)) else { continue }
      let contents = Int(original.littleEndian(at: header + 24, count: 8))
      places += Array(stride(from: contents, to: contents + 96, by: 8))
    }
    return places.map { patch(at: $0) }
  }

  /// The same for the sections that are no part of the program in memory: its debug information.
  static var debugSeeds: [[UInt8]] {
    var places: [Int] = []
    for header in sectionHeaders where original.littleEndian(at: header + 8, count: 8) & 2 == 0 {
      let contents = Int(original.littleEndian(at: header + 24, count: 8))
      let size = Int(original.littleEndian(at: header + 32, count: 8))
      places += Array(stride(from: contents, to: contents + min(size, 512), by: 8)) + [header + 32]
    }
    return places.map { patch(at: $0) } + [withoutSectionsAtTheTop]
  }

  /// Cut behind its first half, and each loaded segment at the end of the address space.
  private static var withoutSectionsAtTheTop: [UInt8] {
    let cut = UInt32(original.count / 2).inputBytes[..<3] + [0x80]
    let headers = stride(from: 64, to: 64 + 56 * Int(original[56]), by: 56)
    let loaded = headers.filter { original.littleEndian(at: $0, count: 4) == 1 }
    return loaded.reduce(into: Array(cut)) { bytes, header in
      bytes += UInt32(header + 16).inputBytes[..<3] + [7] + (UInt64.max - 4095).inputBytes
    }
  }

  static func patch(at place: Int) -> [UInt8] {
    let end = min(original.count, place + 8)
    let words = UInt32(place).inputBytes[..<3] + [7]
    return Array(words) + Array(original[min(place, end)..<end])
  }

  private static var sectionHeaders: [Int] {
    guard original.count > 64 else { return [] }
    let table = Int(original.littleEndian(at: 40, count: 8))
    let count = Int(original.littleEndian(at: 60, count: 2))
    return (0..<count).map { table + 64 * $0 }
  }

  /// File header, program headers and notes.
  static var headers: [UInt8] { Array(original.prefix(1024)) }

  /// A file header and the section headers right behind it.
  static var sectionsOnly: [UInt8] {
    guard let first = sectionHeaders.first else { return [] }
    var bytes = Array(original.prefix(64))
    bytes.replaceSubrange(40..<48, with: UInt64(64).inputBytes)
    return bytes + original[first...]
  }
}
