// One program laid out by different linkers: the same addresses get the same names, lines and calls.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct LinkerLayoutTests {
  @Test(
    "SYM-01, SYM-17: whatever linker laid it out, the same addresses get the same names",
    arguments: [
      "-fuse-ld=bfd -Wl,-z,separate-code", "-fuse-ld=bfd -Wl,-z,noseparate-code", "-fuse-ld=gold",
      "-fuse-ld=lld",
      "-fuse-ld=mold", "-no-pie", "-static", "-no-pie -Wl,-Ttext-segment=0x10000000",
      "-Wl,-Ttext=0x202000", "-fuse-ld=lld -Wl,--icf=all -ffunction-sections",
      "-ffunction-sections -Wl,--gc-sections",
    ])
  func givesTheSameNames(flags: String) throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", SourceLinesTests.nested)
    guard (try? fixture.run("clang -O2 -g \(flags) -o program nested.c 2>/dev/null")) != nil else {
      return print("skipped: cannot link with \(flags)")
    }
    let symbol = try #require(try fixture.symbols(of: "program")["outer"])
    let addresses = stride(from: symbol.address, to: symbol.address + symbol.size, by: 3)
    let expected = try fixture.addressToLine("program", Array(addresses))
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    for address in addresses {
      #expect(fixture.text(try fixture.frames("program", address, &symbolicator)) == expected[address])
    }
  }

  /// Assembly without lines stands between two functions of C.
  @Test("SYM-21: between two sequences of lines there is none") func betweenLinesThereIsNone() throws {
    let fixture = try Fixture()
    try fixture.write("a.c", "int first(int x) { return x + 1; }\n")
    try fixture.write(
      "b.s",
      """
      .text
      .globl bare
      .type bare, @function
      bare: .fill 100, 1, 0x90
      ret
      .size bare, . - bare

      """)
    try fixture.write("c.c", "int bare(int);\nint main(int argc, char **argv) { return bare(argc); }\n")
    try fixture.run("gcc -O1 -g -c a.c c.c && as -o b.o b.s && gcc -o program a.o b.o c.o")
    let symbols = try fixture.symbols(of: "program")
    let bare = try #require(symbols["bare"]).address
    for offset: UInt64 in [0, 50, 100] {
      #expect(fixture.text(try fixture.frames("program", bare + offset)) == ["bare ?:?"])
    }
    #expect(
      fixture.text(try fixture.frames("program", #require(symbols["first"]).address)) == ["first a.c:1"])
  }

  /// The call of a function that never returns is the last instruction: the address behind it is the next function's.
  @Test("UW-03: a call at the end belongs to its function") func aCallAtTheEndBelongsToItsFunction() throws {
    let fixture = try Fixture()
    try fixture.write(
      "end.c",
      """
      #include <stdlib.h>
      __attribute__((noreturn, noinline)) void die(int x) { exit(x); }
      __attribute__((noinline, noreturn)) void caller(int x) {
        die(x + 1);
      }
      __attribute__((noinline)) int neighbour(int x) { return x * 3; }
      int main(int argc, char **argv) { if (neighbour(argc) > 3) caller(argc); return 0; }
      """)
    try fixture.run("gcc -O1 -g -fno-optimize-sibling-calls -falign-functions=1 -o program end.c")
    let symbol = try #require(try fixture.symbols(of: "program")["caller"])
    let end = symbol.address + symbol.size
    #expect(fixture.text(try fixture.frames("program", end)) == ["neighbour end.c:6"])
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    let file = try FileDescriptor.open(fixture.path("program"))
    var frame = Frame(programCounter: end, trust: .exact)
    frame.moduleOffset = end
    symbolicator.name(&frame, lookup: end - 1, descriptor: file.rawValue)
    let frames = symbolicator.expand(frame, lookup: end - 1, descriptor: file.rawValue, deadline: .max)
    #expect(fixture.text(frames) == ["caller end.c:4"])
    #expect(frames.map(\.programCounter) == [end])
    #expect(frames.map(\.symbolOffset) == [symbol.size])
  }
}
