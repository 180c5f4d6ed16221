// The argument vector of another process. Reading it can block on that process, so the helper does it.

internal import Linux
internal import Stacks
internal import StallCore

private let mostBytes = 65_536

extension CaptureHelper {
  /// Empty if it has none any more, nil if they cannot be read.
  mutating func arguments(of process: Int32) -> [ByteString]? {
    guard let text = try? readCommandLine(processID: ThreadList.witness(of: process)),
      let bytes = try? text.bytes(limit: mostBytes)
    else { return nil }
    let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { ByteString($0) }
    // A program that writes a title over its arguments leaves zeros behind it.
    return Array(words.prefix((words.lastIndex { !$0.bytes.isEmpty } ?? -1) + 1))
  }
}
