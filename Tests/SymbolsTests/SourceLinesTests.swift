// Source lines and inlined calls, compared with what binutils' addr2line says of every address of a program.

import StallCore
import Symbols
import Testing

@Suite struct SourceLinesTests {
  /// Three calls deep when inlined.
  static let nested = """
    #include <stdlib.h>
    static inline __attribute__((always_inline)) int inner(int x) {
      for (int i = 0; i < 3; i++) x = x * 31 + rand();
      return x;
    }
    static inline __attribute__((always_inline)) int middle(int x) {
      x += 7 * rand();
      return inner(x) ^ rand();
    }
    __attribute__((noinline)) int outer(int x) {
      int y = middle(x);
      return y / (rand() + 1);
    }
    int main(int argc, char **argv) { return outer(argc) + inner(argc); }
    """

  @Test(
    "UW-20, SYM-17: lines and inlined calls are those that addr2line finds",
    arguments: [
      "gcc -O2 -g", "gcc -O0 -g -gdwarf-4", "gcc -O2 -g -gz=zlib", "clang -O2 -g", "clang -O2 -g -gdwarf-4",
      "gcc -O2 -g -static-pie",
    ])
  func agreesWithBinutils(compiler: String) throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", Self.nested)
    try fixture.run("\(compiler) -o nested nested.c")
    let symbols = try fixture.symbols(of: "nested")
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    for name in ["outer", "main"] {
      let symbol = try #require(symbols[name])
      let addresses = Array(symbol.address..<symbol.address + symbol.size)
      let expected = try fixture.addressToLine("nested", addresses)
      for address in addresses {
        let frames = try fixture.frames("nested", address, &symbolicator)
        #expect(fixture.text(frames) == expected[address])
      }
    }
    #expect(symbolicator.takeRemarks().isEmpty)
  }

  @Test("SYM-12: modules take turns where memory is short") func modulesTakeTurnsWhereMemoryIsShort() throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", Self.nested)
    try fixture.run("gcc -O2 -g -o one nested.c && gcc -O1 -g -o two nested.c")
    var tight = Symbolicator(lineLimitBytes: 1, debugFiles: fixture.search("debug"))
    var roomy = Symbolicator(debugFiles: fixture.search("debug"))
    for offset: UInt64 in 0..<10 {
      for program in ["one", "two"] {
        let address = try #require(try fixture.symbols(of: program)["outer"]).address + offset
        let frames = try fixture.frames(program, address, &tight)
        #expect(frames.last?.line != nil)
        #expect(frames == (try fixture.frames(program, address, &roomy)))
      }
    }
  }
}
