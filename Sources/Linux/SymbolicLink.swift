// What a symbolic link of `/proc` says.

internal import Glibc

/// The text of the link: up to 4095 bytes, any but zero.
package func readLink(_ path: String) throws(Errno) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = try systemCall {
    unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe readlink(path, $0.baseAddress!, $0.count) }
    }
  }
  bytes.removeSubrange(count...)
  return bytes
}
