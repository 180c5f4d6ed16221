// A pattern for the names of functions and modules: bytes, and `*` for any number of them.

struct NamePattern: Sendable, Equatable {
  private let bytes: [UInt8]
  /// Nothing in it stands for anything else.
  let isPlain: Bool

  private static let any = UInt8(ascii: "*")

  init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    isPlain = !self.bytes.contains(Self.any)
  }

  var text: ByteString { ByteString(bytes) }

  /// Takes at most as many steps as the two lengths multiplied: on a mismatch only the last `*` takes one byte more.
  func matches(_ name: [UInt8]) -> Bool {
    var (place, position) = (0, 0)
    var retry: (place: Int, position: Int)?
    while position < name.count {
      if place < bytes.count, bytes[place] == Self.any {
        place += 1
        retry = (place, position)
      } else if place < bytes.count, bytes[place] == name[position] {
        place += 1
        position += 1
      } else if let last = retry {
        retry = (last.place, last.position + 1)
        (place, position) = (last.place, last.position + 1)
      } else {
        return false
      }
    }
    return bytes[place...].allSatisfy { $0 == Self.any }
  }
}
