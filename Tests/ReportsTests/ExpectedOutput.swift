// Comparing output with the files in `Expected`.

import Foundation
import Testing

let testFolder = URL(filePath: #filePath).deletingLastPathComponent()

/// Expects the text to be that of `Expected/NAME`. With STALLWATCH_RECORD set the file is written instead: look at
/// the difference before you commit it.
func expect(_ output: [UInt8], isFile name: String, sourceLocation: SourceLocation = #_sourceLocation) throws
{
  let file = testFolder.appending(path: "Expected/\(name)")
  if ProcessInfo.processInfo.environment["STALLWATCH_RECORD"] != nil {
    try Data(output).write(to: file)
    return
  }
  let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  let expected = try String(contentsOf: file, encoding: .utf8)
    .split(separator: "\n", omittingEmptySubsequences: false)
  for (line, wanted) in zip(lines, expected) where line != wanted {
    #expect(line == wanted, "\(name)", sourceLocation: sourceLocation)
  }
  #expect(lines.count == expected.count, "\(name)", sourceLocation: sourceLocation)
}
