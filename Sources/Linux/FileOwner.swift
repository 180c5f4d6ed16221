// Who a file belongs to, and what a user is called.

internal import Glibc

package enum FileOwner {
  /// Nil if there is no such file.
  package static func of(_ path: String) -> UInt32? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_uid : nil
  }
}

package enum UserName {
  private static let mostBytes = 1 << 20

  /// Nil if passwd(5) knows nobody by this id. Other sources of names may be servers that do not answer.
  package static func of(_ user: UInt32) -> [UInt8]? {
    guard let text = try? readPseudoFile("/etc/passwd", limit: mostBytes) else { return nil }
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
      if fields.count == 4, fields[2].elementsEqual("\(user)".utf8) { return Array(fields[0]) }
    }
    return nil
  }
}
