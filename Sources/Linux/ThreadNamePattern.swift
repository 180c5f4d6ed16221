// Patterns of a shell for names of threads, glob(7).

internal import Glibc

package struct ThreadNamePattern: Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }

  /// The name as bytes; it ends where it holds a NUL.
  package func matches(_ name: [UInt8]) -> Bool {
    unsafe (name + [0]).withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe fnmatch(text, $0.baseAddress, 0) == 0 }
    }
  }
}
