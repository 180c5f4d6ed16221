// Names that end the process of a demangler which takes them as they are.

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
}
