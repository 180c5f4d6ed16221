// A stack of a real program, as a file beside the tests: what it means, then one frame a line.

import FoundationEssentials
import StallCore

struct RecordedStack: Sendable, CustomStringConvertible {
  let description: String
  let meaning: String
  let family: String
  let frames: [Frame]

  /// Line one is `expect MEANING [FAMILY]`; the others are module, raw name and readable name, with tabs between.
  private init(_ path: String, _ name: String) throws {
    description = name
    let text = String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
    let lines = text.split(separator: "\n")
    let words = lines[0].split(separator: " ", maxSplits: 2).map(String.init)
    meaning = words[1]
    family = words.count > 2 ? words[2] : ""
    frames = lines.dropFirst().map { line in
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      var frame = Frame(programCounter: 0x1000, trust: .exact)
      frame.stackPointer = 0x7000
      frame.module = parts[0] == "-" ? nil : ModuleReference(path: ByteString(parts[0]), buildID: nil)
      frame.rawSymbol = parts[1].isEmpty ? nil : ByteString(parts[1])
      frame.symbol = parts[2].isEmpty ? nil : ByteString(parts[2])
      return frame
    }
  }

  static let all: [RecordedStack] = {
    let folder = String(#filePath.dropLast("RecordedStack.swift".utf8.count)) + "Stacks"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().compactMap { try? RecordedStack(folder, $0) }
  }()
}
