// Debug information in other files: which are found, which are refused, and what stays when one is missing.

import Linux
import StallCore
import Symbols
import Testing

@Suite struct DebugFileTests {
  private struct Run {
    var text: [String]
    var remarks: [SymbolRemark.Kind]
  }

  /// The program of `SourceLinesTests` with two separate files: `viewer` and `viewer.debug`.
  private func stripped(
    _ flags: String = "-g", strip: String = "--strip-all", link: Bool = false
  ) throws -> Fixture {
    let fixture = try Fixture()
    try fixture.write("nested.c", SourceLinesTests.nested)
    try fixture.run("gcc -O2 \(flags) -o viewer nested.c && objcopy --only-keep-debug viewer viewer.debug")
    try fixture.run("nm -S viewer > symbols && strip \(strip) viewer")
    if link { try fixture.run("objcopy --add-gnu-debuglink=viewer.debug viewer") }
    return fixture
  }

  private func outer(_ fixture: Fixture) throws -> UInt64 {
    let line = try fixture.run("grep ' outer$' symbols")
    return try #require(UInt64(line.prefix(16), radix: 16))
  }

  private func look(_ fixture: Fixture, at address: UInt64? = nil) throws -> Run {
    var symbolicator = Symbolicator(debugFiles: fixture.search("debug"))
    let place = try address ?? outer(fixture)
    let frames = try fixture.frames("viewer", place, &symbolicator)
    return Run(text: fixture.text(frames), remarks: symbolicator.takeRemarks().map(\.kind))
  }

  private func installByBuildID(_ fixture: Fixture, _ file: String) throws {
    try fixture.run(
      """
      id=$(readelf -n viewer | sed -n 's/.*Build ID: //p')
      mkdir -p debug/.build-id/$(echo $id | cut -c1-2)
      cp \(file) debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug
      """)
  }

  @Test("SYM-22: debug information is found by build-id") func isFoundByBuildID() throws {
    let fixture = try stripped()
    #expect(try look(fixture).text == ["? ?:?"])
    try installByBuildID(fixture, "viewer.debug")
    let run = try look(fixture)
    #expect(run.text.last == "outer nested.c:10")
    #expect(run.remarks.isEmpty)
  }

  @Test(arguments: ["viewer.debug", ".debug/viewer.debug", "debug/$PWD/viewer.debug"])
  func isFoundByDebugLink(place: String) throws {
    let fixture = try stripped("-g -Wl,--build-id=none", link: true)
    try fixture.run("mv viewer.debug x; mkdir -p \"$(dirname \(place))\"; mv x \(place)")
    let run = try look(fixture)
    #expect(run.text.last == "outer nested.c:10")
    #expect(run.remarks.isEmpty)
  }

  @Test(
    "SYM-04, SYM-22: debug information of another build is refused, and it is told",
    arguments: ["-Wl,--build-id=none", ""])
  func ofAnotherBuildIsRefused(flags: String) throws {
    let fixture = try stripped("-g \(flags)", link: true)
    try fixture.run("gcc -O0 -g \(flags) -o other nested.c && objcopy --only-keep-debug other viewer.debug")
    let run = try look(fixture)
    #expect(run.text == ["? ?:?"])
    let refusal = DebugFileSearch.Refusal.otherBuild(ByteString(fixture.path("viewer.debug")))
    #expect(run.remarks.contains(.refusedDebugFile(refusal)))
  }

  @Test("SYM-22: a dangling link to debug information is passed over") func aDanglingLinkIsPassedOver() throws
  {
    let fixture = try stripped(link: true)
    try installByBuildID(fixture, "viewer.debug")
    try fixture.run("for f in debug/.build-id/*/*.debug; do ln -sf /nonexistent $f; done")
    let run = try look(fixture)
    #expect(run.text.last == "outer nested.c:10")
    #expect(run.remarks.isEmpty)
  }

  @Test("SYM-22: a debug file of garbage is refused, and it is told") func aDebugFileOfGarbageIsRefused()
    throws
  {
    let fixture = try stripped(link: true)
    try fixture.run("head -c 5000 /dev/zero > viewer.debug")
    let run = try look(fixture)
    #expect(run.text == ["? ?:?"])
    #expect(run.remarks.count == 2)
  }

  @Test func zstdIsUnpacked() throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", SourceLinesTests.nested)
    try fixture.run("gcc -O2 -g -o plain nested.c")
    let plain = try FileDescriptor.open(fixture.path("plain"))
    try fixture.write("viewer", packDebugSections(of: try plain.readAll(limit: 1 << 20)))
    #expect(try fixture.run("readelf -t viewer").contains("ZSTD"))
    let symbol = try #require(try fixture.symbols(of: "plain")["outer"])
    let addresses = Array(symbol.address..<symbol.address + symbol.size)
    let expected = try fixture.addressToLine("plain", addresses)
    for address in addresses { #expect(try look(fixture, at: address).text == expected[address]) }
  }

  @Test(
    "SYM-06: sections that are too large unpacked are left, and it is told",
    arguments: [
      (4 << 30, DebugFailure.tooLarge), (1 << 62, .tooLarge), (1, .damaged),
    ])
  func whatIsNotToBeUnpackedIsLeft(statedSize: Int, failure: DebugFailure) throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", SourceLinesTests.nested)
    try fixture.run("gcc -O2 -g -gz=zlib -o plain nested.c")
    let plain = try FileDescriptor.open(fixture.path("plain"))
    try fixture.write("viewer", stateUnpackedSize(statedSize, in: try plain.readAll(limit: 1 << 20)))
    let run = try look(fixture, at: #require(try fixture.symbols(of: "plain")["outer"]).address)
    #expect(run.text == ["outer ?:?"])
    #expect(run.remarks == [.noLines(failure)])
  }

  @Test func miniDebugInformationGivesNames() throws {
    guard isInstalled("xz") else { return print("skipped: no xz") }
    let fixture = try stripped(strip: "--strip-all")
    try fixture.run(
      """
      objcopy -S --remove-section .gdb_index --keep-symbol=outer --keep-symbol=main viewer.debug mini
      xz mini && objcopy --add-section .gnu_debugdata=mini.xz viewer
      """)
    let run = try look(fixture)
    #expect(run.text == ["outer ?:?"])
    #expect(run.remarks.isEmpty)
  }

  @Test("SYM-08: split debug information is read; without it, lines and names stay")
  func splitDebugInformation() throws {
    let fixture = try Fixture()
    try fixture.write("nested.c", SourceLinesTests.nested)
    try fixture.run("gcc -O2 -g -gsplit-dwarf -o viewer nested.c && gcc -O2 -g -o plain nested.c")
    let symbol = try #require(try fixture.symbols(of: "viewer")["outer"])
    let addresses = Array(symbol.address..<symbol.address + symbol.size)
    let expected = try fixture.addressToLine("plain", addresses)
    for address in addresses { #expect(try look(fixture, at: address).text == expected[address]) }
    // Without the file: no inlined calls, but lines and the symbol table's names.
    try fixture.run("mv *.dwo elsewhere")
    let run = try look(fixture, at: symbol.address)
    #expect(run.text == ["outer nested.c:10"])
    guard case .missingSplitFile = run.remarks.first else {
      Issue.record("no remark but \(run.remarks)")
      return
    }
  }

  @Test("SYM-07: a common file that names itself is not followed") func commonFileThatNamesItself() throws {
    let fixture = try stripped(strip: "--strip-unneeded")
    try fixture.run(
      """
      id=$(readelf -n viewer.debug | sed -n 's/.*Build ID: //p')
      python3 -c "import sys; sys.stdout.buffer.write(b'viewer.debug\\0' + bytes.fromhex('$id'))" > link
      objcopy --add-section .gnu_debugaltlink=link viewer.debug
      """)
    try installByBuildID(fixture, "viewer.debug")
    #expect(try look(fixture).text.last == "outer nested.c:10")
  }

  @Test("SYM-07: what dwz moved away is found, or told to be missing") func whatDwzMovedAway() throws {
    guard isInstalled("dwz") else { return print("skipped: no dwz") }
    let fixture = try stripped()
    try fixture.write("second.c", SourceLinesTests.nested + "\nint second;\n")
    try fixture.run(
      """
      gcc -O2 -g -o second second.c && objcopy --only-keep-debug second second.debug
      nm viewer.debug > /dev/null && dwz -m common.debug -M common.debug viewer.debug second.debug
      """)
    try installByBuildID(fixture, "viewer.debug")
    let address = try outer(fixture) + 4
    try fixture.run("cp common.debug debug/.build-id/*/")
    let complete = try look(fixture, at: address)
    #expect(complete.remarks.isEmpty)
    try fixture.run("rm debug/.build-id/*/common.debug")
    let missing = try look(fixture, at: address)
    #expect(missing.text.last?.hasPrefix("outer nested.c:") == true)
    #expect(missing.remarks == [.missingAlternate("common.debug")])
  }
}
