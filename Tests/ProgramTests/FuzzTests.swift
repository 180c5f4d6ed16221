// A short run of the fuzzer over every parser of the target's bytes; `scripts/fuzz` does the long ones.

import Linux
import TestSupport
import Testing

@Suite struct FuzzTests {
  private static let parsers: [String] = {
    guard var list = try? TargetProcess(path: builtProduct("Fuzz"), arguments: []) else { return [] }
    var names: [String] = []
    while let name = try? list.readLine() { names.append(name) }
    return names
  }()

  @Test func parsersAreListed() { #expect(Self.parsers.count > 20) }

  /// Prints which input ended it, if one did; `Fuzz PARSER 1 NUMBER` repeats that one.
  @Test(arguments: parsers) func twoThousandInputsDoNoHarm(_ parser: String) throws {
    var run = try TargetProcess(path: builtProduct("Fuzz"), arguments: [parser, "2000"])
    #expect(try run.waitForExit() == .exited(0))
  }
}
