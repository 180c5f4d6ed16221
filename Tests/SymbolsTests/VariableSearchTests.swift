// Variables by their names: which are found, which are refused, and what a person may have meant.

import Glibc
import Linux
import StallCore
import Testing

@testable import Symbols

@Suite struct VariableSearchTests {
  private let fixture: Fixture

  /// Variables under names as compilers make them, of 8 bytes unless their name says otherwise.
  init() throws {
    fixture = try Fixture()
    try fixture.write(
      "names.s",
      Self.variables.map { name, size in
        ".data\n.type \"\(name)\", @object\n.size \"\(name)\", \(size)\n\"\(name)\": .zero 16\n"
      }.joined()
        + ".section .tbss,\"awT\",@nobits\n.type per_thread, @object\n.size per_thread, 8\nper_thread: .zero 8\n"
        + ".text\n.globl work\n.type work, @function\nwork: ret\n.size work, 1\n")
    try fixture.run("cc -shared -nostdlib -o names.so names.s")
  }

  private static let variables: [(String, Int)] = [
    ("rounds", 8), ("rounds_32", 4), ("bytes_2", 2), ("no_size", 0), ("array", 64), ("local.0", 8),
    ("_ZN3app4loopE", 8), ("_ZN12_GLOBAL__N_16hiddenE", 4), ("$s3app6roundsSivp", 8),
    ("$s3app4LoopC5countSivpZ", 8), ("_ZN3app7COUNTER17h0123456789abcdefE", 8),
  ]

  private func search(_ name: String, in file: String = "names.so") throws -> VariableSearch {
    let opened = try FileDescriptor.open(fixture.path(file))
    var search = VariableSearch(for: ByteString(name))
    search.search(
      descriptor: opened.rawValue, path: ByteString(fixture.path(file)),
      debugFiles: DebugFileSearch(directories: []))
    return search
  }

  @Test(arguments: [
    ("rounds", "rounds", 8), ("rounds_32", "rounds_32", 4), ("local", "local.0", 8),
    ("local.0", "local.0", 8),
    ("app::loop", "_ZN3app4loopE", 8), ("_ZN3app4loopE", "_ZN3app4loopE", 8),
    ("(anonymous namespace)::hidden", "_ZN12_GLOBAL__N_16hiddenE", 4), ("app.rounds", "$s3app6roundsSivp", 8),
    ("app.Loop.count", "$s3app4LoopC5countSivpZ", 8),
    ("app::COUNTER", "_ZN3app7COUNTER17h0123456789abcdefE", 8),
  ]) func found(name: String, symbol: String, width: Int) throws {
    let found = try search(name).variables
    let address = try fixture.symbols(of: "names.so")[symbol]?.address
    #expect(found.map(\.address) == [address] && found.map(\.width) == [width])
  }

  @Test(arguments: [
    ("work", VariableSearch.Unusable.function), ("per_thread", .threadLocal), ("bytes_2", .size(2)),
    ("no_size", .size(0)), ("array", .size(64)),
  ]) func refused(name: String, why: VariableSearch.Unusable) throws {
    let search = try search(name)
    #expect(search.variables.isEmpty && search.unusable == why)
  }

  @Test(arguments: [
    ("roundz", "rounds"), ("Rounds", "rounds"), ("ound", "rounds"), ("app::lop", "app::loop"),
  ])
  func near(name: String, meant: String) throws {
    let search = try search(name)
    #expect(search.variables.isEmpty && search.unusable == nil)
    #expect(search.nearest.contains(ByteString(meant)))
    #expect(search.nearest.count <= 3)
  }

  @Test func namesThatAreNowhereNearAreNotGuessed() throws {
    #expect(try search("heartbeat_of_something").nearest.isEmpty)
  }

  @Test func strippedModuleHasWhatItsDebugFileHas() throws {
    try fixture.run(
      "objcopy --only-keep-debug names.so names.debug && cp names.so bare.so && strip bare.so"
        + " && objcopy --add-gnu-debuglink=names.debug bare.so")
    #expect(try search("rounds", in: "bare.so").variables.count == 1)
    try fixture.run("rm names.debug")
    #expect(try search("rounds", in: "bare.so").variables.isEmpty)
  }

  /// Tables that were cut, and tables that lead elsewhere.
  @Test func damagedModulesHaveNothing() throws {
    let bytes = try FileDescriptor.open(fixture.path("names.so")).readAll(limit: 1 << 20)
    for end in stride(from: 0, to: bytes.count, by: 97) {
      try fixture.write("cut.so", Array(bytes[..<end]))
      #expect(try search("rounds", in: "cut.so").variables.isEmpty)
    }
    for place in stride(from: 0, to: bytes.count, by: 31) {
      var damaged = bytes
      damaged[place] ^= 0xFF
      try fixture.write("damaged.so", damaged)
      _ = try search("rounds", in: "damaged.so")
    }
  }
}
