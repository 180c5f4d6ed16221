// Names of each scheme, names of none, and names made to harm.

import StallCore
import Symbols
import Testing

@Suite struct DemanglerTests {
  @Test(
    "SYM-14: names of each scheme are shown for people",
    arguments: [
      ("_ZN6Report4loadEi", "Report::load(int)"),
      ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
      ("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()"),
      ("_ZN3foo3bar17h0123456789abcdefE", "foo::bar"),
      ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
      ("$s4main3fooyyF", "main.foo() -> ()"),
      ("_$s4main3fooyyF", "main.foo() -> ()"),
      ("$S4main3fooyyF", "main.foo() -> ()"),
      (
        "$s6Crypto4HPKEO11CiphersuiteV23P384_SHA384_AES_GCM_256AEvgZ",
        "static Crypto.HPKE.Ciphersuite.P384_SHA384_AES_GCM_256.getter : Crypto.HPKE.Ciphersuite"
      ),
      ("_T04main3fooyyF", "main.foo() -> ()"),
      ("_D4test3fooFZv", "_D4test3fooFZv"),
      ("malloc", "malloc"),
      ("_Znonsense", "_Znonsense"),
      ("$s", "$s"),
      ("", ""),
      ("memcpy@@GLIBC_2.14", "memcpy"),
      ("memcpy@GLIBC_2.2.5", "memcpy"),
      ("puts@plt", "puts@plt"),
      ("_ZN6Report4loadEi@plt", "Report::load(int)@plt"),
      ("compute.constprop.0", "compute [.constprop.0]"),
      ("compute.cold", "compute [.cold]"),
      ("counter.1234", "counter.1234"),
      ("_ZN6Report4loadEi.cold", "Report::load(int) [.cold]"),
      ("_ZN6Report4loadEi.part.0.isra.1", "Report::load(int) [.part.0.isra.1]"),
      ("_ZN3foo3bar17h0123456789abcdefE.llvm.123", "foo::bar [.llvm.123]"),
      ("_ZN4core3ptr13drop..closure17h0123456789abcdefE", "core::ptr::drop::closure"),
    ])
  func showsNamesForPeople(raw: String, display: String) {
    #expect(SymbolName(raw: ByteString(raw)).display.escaped == display)
  }

  @Test func longNamesAreRead() {
    let part = String(repeating: "n", count: 20)
    let name = "_ZN" + String(repeating: "20\(part)", count: 100) + "3fooEv"
    let display = String(repeating: "\(part)::", count: 100) + "foo()"
    #expect(Demangler.demangle(ByteString(name))?.escaped == display)
  }

  @Test func longAndDeepNamesStayRaw() {
    for prefix in ["_Z1f", "_RMC", "_RNvNvNv", "$s1m1fyy", "_T0", "_ZN"] {
      for filler in ["P", "S_", "N", "R", "Si", "m", "1a", "A", "G", "I", "B_", "Tup", "9", "0", "x_"] {
        for count in [10, 300, 1000, 2000, 5000] {
          let name = ByteString(prefix + String(repeating: filler, count: count))
          let result = Demangler.demangle(name)
          #expect((result?.bytes.count ?? 0) <= Demangler.maximumOutput)
          if name.bytes.count > Demangler.maximumInput { #expect(result == nil) }
        }
      }
    }
  }

  /// Each level holds the one before twice: 200 bytes that stand for gigabytes.
  @Test func namesThatMultiplyStayRaw() {
    let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    let cpp = "_Z1f1AIiiES_IS0_S0_E" + digits.prefix(30).map { "S_IS\($0)_S\($0)_E" }.joined()
    #expect(Demangler.demangle(ByteString(cpp)) == nil)
    let letters = Array("EFGHIJKLMNOPQRSTUVWXYZ")
    let swift = letters.reduce("ADyS2iG") { "ADy\($0)A\($1)G" }
    #expect(Demangler.demangle(ByteString("$s1m1fyyAA1PVy\(swift)SiGF")) == nil)
    let repeated = letters.reduce("ADyS2iG") { "ADy\($0)A9\($1.lowercased())\($1)G" }
    #expect(Demangler.demangle(ByteString("$s1m1fyyAA1PVy\(repeated)SiGF")) == nil)
  }

  @Test func randomBytesBehindAPrefixDoNoHarm() {
    var generator = SeededGenerator(state: 2)
    let alphabet = Array("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz$.".utf8)
    for _ in 0..<20_000 {
      let prefix = ["_Z", "_ZN", "_R", "$s", "_T0"].randomElement(using: &generator) ?? ""
      let length = Int.random(in: 0..<60, using: &generator)
      let tail = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = Demangler.demangle(ByteString(Array(prefix.utf8) + tail))
    }
  }
}
