// The list of the kernel's symbols, whole, in pieces, and with its addresses hidden.

import Linux
import TestSupport
import Testing

@Suite struct KernelSymbolsTests {
  private static let list = """
    0000000000000000 A fixed_percpu_data
    0000000000001000 A cpu_debug_store
    ffffffff81000000 T startup_64
    ffffffff81000000 T _stext
    ffffffff81000040 t __pfx_ksys_read
    ffffffff81000050 T ksys_read
    ffffffff81000090 W weak_function
    ffffffff810000a0 d no_code
    ffffffff81000100 w last_function
    ffffffff82000000 D data
    ffffffffc0b00000 t late_helper\t[nfs]
    ffffffffc0a00000 t helper\t[sunrpc]
    ffffffffc0a00020 T other_helper\t[sunrpc]

    """

  private func read(_ list: String = list) throws -> KernelSymbols {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/kallsyms"
    try FileDescriptor.create(path).write(Array(list.utf8))
    return try KernelSymbols.read(from: path)
  }

  /// `name+offset`, with the module behind it.
  private static func spoken(_ symbols: KernelSymbols, _ address: UInt64) -> String? {
    symbols.symbol(at: address).map { symbol in
      String(decoding: symbol.name, as: UTF8.self) + "+\(address - symbol.start)"
        + (symbol.module.map { " \(String(decoding: $0, as: UTF8.self))" } ?? "")
    }
  }

  @Test(
    "the nearest function at or below an address, the first of several names",
    arguments: [
      (0xFFFF_FFFF_8100_0000, "startup_64+0"), (0xFFFF_FFFF_8100_003F, "startup_64+63"),
      (0xFFFF_FFFF_8100_0050, "ksys_read+0"), (0xFFFF_FFFF_8100_008F, "ksys_read+63"),
      (0xFFFF_FFFF_8100_00A8, "weak_function+24"), (0xFFFF_FFFF_8103_0000, "last_function+196352"),
      (0xFFFF_FFFF_C0A0_0010, "helper+16 sunrpc"), (0xFFFF_FFFF_C0A0_0030, "other_helper+16 sunrpc"),
      (0xFFFF_FFFF_C0B0_0001, "late_helper+1 nfs"),
    ] as [(UInt64, String)])
  func functionsAreFound(_ address: UInt64, _ name: String) throws {
    #expect(try Self.spoken(read(), address) == name)
  }

  @Test(
    "where nothing lies near, there is no name",
    arguments: [0, 1, 0xFFFF_FFFF_80FF_FFFF, 0xFFFF_FFFF_8200_0001, .max] as [UInt64])
  func nothingThere(_ address: UInt64) throws { #expect(try read().symbol(at: address) == nil) }

  @Test(arguments: [64, 65, 100, 333]) func theListComesInPieces(_ length: Int) throws {
    let bytes = Array(Self.list.utf8)
    var symbols = KernelSymbols()
    var (rest, position): ([UInt8], Int) = ([], 0)
    while position < bytes.count {
      let end = min(position + length, bytes.count)
      rest += bytes[position..<end]
      position = end
      let used = symbols.take(rest.span)
      rest.removeFirst(used)
    }
    symbols.finish()
    let whole = try read()
    for address in stride(from: 0xFFFF_FFFF_8100_0000 as UInt64, to: 0xFFFF_FFFF_8100_0200, by: 8) {
      #expect(symbols.symbol(at: address) == whole.symbol(at: address))
    }
    #expect(Self.spoken(symbols, 0xFFFF_FFFF_C0A0_0010) == "helper+16 sunrpc")
  }

  /// As those see it whom the kernel does not trust (kernel/kallsyms.c, `kallsyms_show_value`).
  @Test func hiddenAddressesAreARefusal() throws {
    let hidden = Self.list.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : String(repeating: "0", count: 16) + $0.dropFirst(16)
    }.joined(separator: "\n")
    #expect(throws: Errno.accessDenied) { try read(hidden) }
    #expect(throws: Errno.accessDenied) { try read("") }
  }

  @Test(
    "lines that are none",
    arguments: [
      "\n", "ffffffff81000000", "ffffffff81000000 T", "ffffffff81000000 T ", " T a", "x T a", "T",
      "fffffffff81000000 T a",
    ])
  func brokenLines(_ line: String) {
    var symbols = KernelSymbols()
    let bytes = Array("\(line)\n".utf8)
    #expect(symbols.take(bytes.span) == bytes.count)
    symbols.finish()
    #expect(symbols.symbol(at: 0xFFFF_FFFF_8100_0001) == nil)
  }

  @Test(.enabled(if: isKernelShown, "needs CAP_SYSLOG, and kernel.kptr_restrict below 2"))
  func theKernelThatRunsIsRead() throws {
    let text = String(decoding: try readPseudoFile("/proc/kallsyms", limit: 64 << 20), as: UTF8.self)
    let line = try #require(text.split(separator: "\n").first { $0.hasSuffix(" T ksys_read") })
    let start = try #require(UInt64(line.prefix(16), radix: 16))
    let symbols = try KernelSymbols.read()
    #expect(Self.spoken(symbols, start + 1) == "ksys_read+1")
    #expect(symbols.symbol(at: start - 1)?.name != Array("ksys_read".utf8))
  }
}
