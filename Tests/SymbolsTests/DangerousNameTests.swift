// Names that end or hold up a demangler which takes them as they are.

import StallCore
import Symbols
import Testing

@Suite struct DangerousNameTests {
  /// Each of them made `swift_demangle` abort or use a null pointer.
  @Test(arguments: [
    "$s7Reports12RecordOriginV9processIDs5Int32Rvs",
    "$sSDySS11TestSupport9JSONValbeOGSDyxq_GSesSeRzSeRV_rlWl",
    "$s6Stacks5Place33_E81A813AEB5FCC7525Do9B1BA08BC6DCLLfMf",
  ])
  func staysRaw(_ name: String) { #expect(Demangler.demangle(ByteString(name)) == nil) }

  /// Each of them is billions of lifetimes that are counted and never shown.
  @Test(arguments: [
    "_RMYFGfqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "_RNvXs_YFGCsaDEF_7mycrateNtB4_3FooNtB4_3Bar3baz",
    "_RC1aYFG_FGrvCs1_1G0_hEuNtC1a1b1c",
  ])
  func isNotWaitedFor(_ name: String) { #expect(Demangler.demangle(ByteString(name)) == nil) }

  @Test func ordinaryLifetimesAreNamed() {
    let name = Demangler.demangle("_RINvC1a1fFG0_RL0_hEuE")
    #expect(name?.escaped == "a::f::<for<'a, 'b> fn(&'b u8)>")
  }
}
