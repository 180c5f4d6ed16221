// Which name a function gets: of several, of none that fits, and where a file has no section headers.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct FunctionNameTests {
  @Test("SYM-15: other names of the same address are kept") func otherNamesAreKept() throws {
    let fixture = try Fixture()
    try fixture.write(
      "alias.c",
      """
      int work(int x) { return x * 3; }
      int labour(int) __attribute__((alias("work")));
      int __toil(int) __attribute__((alias("work")));
      int main(int argc, char **argv) { return work(argc); }
      """)
    try fixture.run("gcc -O1 -g -o program alias.c")
    let address = try #require(try fixture.symbols(of: "program")["labour"]).address
    let frame = try #require(try fixture.frames("program", address).last)
    // The shortest would be `work` anyway; the debug information has the last word.
    #expect(frame.symbol == "work")
    #expect(Set(frame.aliases) == ["labour", "__toil"])
  }

  @Test("SYM-15: the debug information chooses among names") func theDebugInformationChoosesAmongNames()
    throws
  {
    let fixture = try Fixture()
    try fixture.write(
      "alias.c",
      """
      int original_name(int x) { return x * 3; }
      int other(int) __attribute__((alias("original_name")));
      int main(int argc, char **argv) { return original_name(argc); }
      """)
    try fixture.run("gcc -O1 -g -o program alias.c && gcc -O1 -o plain alias.c")
    let address = try #require(try fixture.symbols(of: "program")["other"]).address
    let frame = try #require(try fixture.frames("program", address).last)
    #expect(frame.symbol == "original_name")
    #expect(frame.aliases == ["other"])
    let plain = try #require(try fixture.symbols(of: "plain")["other"]).address
    #expect(try fixture.frames("plain", plain).last?.symbol == "other")
  }

  @Test("SYM-15: functions that were folded keep both names") func functionsThatWereFoldedKeepBothNames()
    throws
  {
    let fixture = try Fixture()
    try fixture.write(
      "folded.c",
      """
      __attribute__((noinline)) int length(int x) { return x * 31 + x / 7; }
      __attribute__((noinline)) int width(int x) { return x * 31 + x / 7; }
      int main(int argc, char **argv) { return length(argc) + width(argc + 1); }
      """)
    guard
      (try? fixture.run(
        "clang -O2 -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all -o program folded.c 2>/dev/null")) != nil
    else { return print("skipped: no linker that folds functions") }
    let symbols = try fixture.symbols(of: "program")
    let address = try #require(symbols["length"]).address
    #expect(symbols["width"]?.address == address)
    let frame = try #require(try fixture.frames("program", address).last)
    #expect(Set([frame.symbol].compactMap(\.self) + frame.aliases) == ["length", "width"])
    #expect(frame.line == 1 || frame.line == 2)
  }

  @Test("SYM-15: a cold part is its function's") func aColdPartIsItsFunctions() throws {
    let fixture = try Fixture()
    try fixture.write(
      "cold.c",
      """
      #include <stdlib.h>
      #include <unistd.h>
      __attribute__((cold)) void fail(int);
      __attribute__((noinline)) int compute(int x) {
        if (__builtin_expect(x == 12345, 0)) { fail(x); sleep(x); abort(); }
        return x * 3;
      }
      __attribute__((noinline)) void fail(int x) { usleep(x); }
      int main(int argc, char **argv) { return compute(argc); }
      """)
    try fixture.run("gcc -O2 -g -freorder-blocks-and-partition -o program cold.c")
    guard let cold = try fixture.symbols(of: "program")["compute.cold"] else {
      return print("skipped: the compiler made no cold part")
    }
    let frames = try fixture.frames("program", cold.address)
    let expected = try fixture.addressToLine("program", [cold.address])[cold.address]
    let place = try #require(expected?.last?.split(separator: " ").last)
    #expect(fixture.text(frames).last == "compute [.cold] \(place)")
    #expect(frames.last?.rawSymbol == "compute.cold")
  }

  @Test("SYM-10: a function without a symbol is not its neighbour") func aHiddenFunctionIsNotItsNeighbour()
    throws
  {
    let fixture = try Fixture()
    try fixture.write(
      "library.c",
      """
      int foo(int x) { return x + 1; }
      __attribute__((noinline)) static int bar(int x) { for (int i = 0; i < x; i++) x ^= i * x; return x; }
      int baz(int x) { return bar(x) + bar(x + 1); }
      """)
    try fixture.run(
      "gcc -O1 -shared -fPIC -o library.so library.c && nm -S library.so > symbols && strip -s library.so")
    let line = try fixture.run("grep ' bar$' symbols")
    let address = try #require(UInt64(line.prefix(16), radix: 16))
    #expect(try fixture.frames("library.so", address + 3).map(\.symbol) == [nil])
    let foo = try #require(UInt64(try fixture.run("grep ' foo$' symbols").prefix(16), radix: 16))
    #expect(try fixture.frames("library.so", foo).map(\.symbol) == ["foo"])
  }

  /// As `sstrip` leaves it, and as a copy of a process's memory has it: `DT_` addresses moved, no section headers.
  @Test(
    "SYM-24: names are found without section headers", arguments: [0, 0x7F12_3456_7000], ["gnu", "sysv"])
  func withoutSectionHeaders(movedBy bias: UInt64, hash: String) throws {
    let fixture = try Fixture()
    try fixture.write("library.c", "int foo(int x) { return x + 1; }\nint baz(int x) { return x * 3; }\n")
    try fixture.write(
      "strip.py",
      """
      import struct, sys
      bias = int(sys.argv[1])
      data = bytearray(open('library.so', 'rb').read())
      (offset,) = struct.unpack_from('<Q', data, 0x20)
      (count,) = struct.unpack_from('<H', data, 0x38)
      data[0x28:0x30] = bytes(8)
      data[0x3A:0x40] = bytes(6)
      for number in range(count):
          kind, flags, at, address, _, size = struct.unpack_from('<IIQQQQ', data, offset + 56 * number)
          if kind == 2:
              for entry in range(at, at + size, 16):
                  tag, value = struct.unpack_from('<QQ', data, entry)
                  if tag in (4, 5, 6, 0x6ffffef5): struct.pack_into('<Q', data, entry + 8, value + bias)
      open('bare.so', 'wb').write(data)
      """)
    try fixture.run(
      "gcc -O1 -shared -fPIC -Wl,--hash-style=\(hash) -o library.so library.c && python3 strip.py \(bias)")
    let symbols = try fixture.symbols(of: "library.so")
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    for name in ["foo", "baz"] {
      let symbol = try #require(symbols[name])
      let frames = try fixture.frames("bare.so", symbol.address + symbol.size - 1, &symbolicator)
      #expect(frames.map(\.symbol) == [ByteString(name)])
    }
    #expect(symbolicator.takeRemarks().map(\.kind) == [.stripped])
  }

  @Test("SYM-12: lines keep to their time; names are there without them") func keepsToItsTime() throws {
    let fixture = try Fixture()
    try fixture.write("unit.c", "int FFFF(int x) { int y = x; y += 2;\n return y; }\n")
    try fixture.write("main.c", "int f199(int);\nint main(int argc, char **argv) { return f199(argc); }\n")
    try fixture.run(
      """
      gcc -g -S -o unit.s unit.c
      for i in $(seq 100 199); do sed "s/FFFF/f$i/g" unit.s | as -o u$i.o; done
      gcc -g -o program main.c u*.o
      """)
    let address = try #require(try fixture.symbols(of: "program")["f199"]).address
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    #expect(fixture.text(try fixture.frames("program", address, &symbolicator, deadline: 1)) == ["f199 ?:?"])
    #expect(symbolicator.takeRemarks().map(\.kind) == [.outOfTime])
    #expect(fixture.text(try fixture.frames("program", address, &symbolicator)) == ["f199 unit.c:1"])
  }
}
