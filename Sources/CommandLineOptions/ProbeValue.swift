// How the address of a probe is read.

internal import StallCore

/// `http://HOST[:PORT][/PATH]`, `tcp://HOST:PORT`, `unix:PATH`. A host is a number or localhost: a name look-up can take any
/// time, and its answer is not what is asked for.
func readProbe(_ text: String) throws(ValueProblem) -> ProbeAddress {
  if text.hasPrefix("unix:") {
    var path = text.dropFirst(5)
    if path.hasPrefix("//") { path = path.dropFirst(2) }
    // sockaddr_un holds 108 bytes, one of which is the end.
    guard path.hasPrefix("/"), path.utf8.count < 108, !path.utf8.contains(0) else { throw .notAProbe }
    return ProbeAddress(.path(String(path)), request: nil, text: text)
  }
  if text.hasPrefix("https:") { throw .encryptedProbe }
  let isHTTP = text.hasPrefix("http://")
  guard isHTTP || text.hasPrefix("tcp://") else { throw .notAProbe }
  let rest = text.dropFirst(isHTTP ? 7 : 6)
  let authority = rest.prefix { $0 != "/" }
  let path = rest.dropFirst(authority.count)
  guard path.isEmpty || isHTTP, path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), path.utf8.count < 2_048
  else {
    throw .notAProbe
  }
  let (host, port) = try hostAndPort(authority, standard: isHTTP ? 80 : nil)
  return ProbeAddress(
    .hosts(try addresses(host), port: port), request: isHTTP ? (path.isEmpty ? "/" : String(path)) : nil,
    text: text)
}

/// `[::1]:80`, `127.0.0.1:80`.
private func hostAndPort(
  _ authority: Substring, standard: UInt16?
) throws(ValueProblem) -> (Substring, UInt16) {
  var host = authority
  var port: Substring?
  if authority.hasPrefix("[") {
    guard let end = authority.firstIndex(of: "]") else { throw .notAProbe }
    host = authority[authority.index(after: authority.startIndex)..<end]
    let behind = authority[authority.index(after: end)...]
    guard behind.isEmpty || behind.hasPrefix(":") else { throw .notAProbe }
    port = behind.isEmpty ? nil : behind.dropFirst()
  } else if let colon = authority.firstIndex(of: ":") {
    host = authority[..<colon]
    port = authority[authority.index(after: colon)...]
  }
  guard let port else {
    guard let standard else { throw .notAProbe }
    return (host, standard)
  }
  guard port.allSatisfy(isDigit), let number = UInt16(port), number > 0 else { throw .notAProbe }
  return (host, number)
}

private func addresses(_ host: Substring) throws(ValueProblem) -> [String] {
  if host == "localhost" { return ["127.0.0.1", "::1"] }
  let isIPv4 =
    host.split(separator: ".", omittingEmptySubsequences: false).count == 4
    && host.allSatisfy { isDigit($0) || $0 == "." }
  let isIPv6 = host.contains(":") && host.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
  guard isIPv4 || isIPv6 else { throw .namedProbe }
  return [String(host)]
}
