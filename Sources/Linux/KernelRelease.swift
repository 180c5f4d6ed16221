// Which Linux runs, by the two numbers that its features are told by.

internal import Glibc

package struct KernelRelease: Comparable, Sendable {
  private let major: Int
  private let minor: Int

  package init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }

  /// From uname(2), as in "6.1.0-13-amd64". Nil if it names none.
  package init?(_ text: Span<UInt8>) {
    var position = 0
    guard let first = text.decimal(at: &position), position < text.count, text[position] == 0x2E else {
      return nil
    }
    position += 1
    guard let second = text.decimal(at: &position) else { return nil }
    (major, minor) = (Int(clamping: first), Int(clamping: second))
  }

  package static var current: KernelRelease? {
    var name = utsname()
    guard unsafe uname(&name) == 0 else { return nil }
    return unsafe withUnsafeBytes(of: name.release) {
      unsafe KernelRelease($0.bindMemory(to: UInt8.self).span)
    }
  }

  package static func < (left: KernelRelease, right: KernelRelease) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }
}
