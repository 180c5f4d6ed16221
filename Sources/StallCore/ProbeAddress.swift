// Where a program is asked from outside, and in which words.

package struct ProbeAddress: Sendable, Equatable {
  package enum Endpoint: Sendable, Equatable {
    /// In numbers; several are tried in turn.
    case hosts([String], port: UInt16)
    case path(String)
  }

  package var endpoint: Endpoint
  /// The path of an HTTP request. Nil: nothing is asked in words; who accepts the connection shows by its first byte, or by
  /// closing it.
  package var request: String?
  /// As it was given.
  package var text: String

  package init(_ endpoint: Endpoint, request: String?, text: String) {
    self.endpoint = endpoint
    self.request = request
    self.text = text
  }
}
