// Changes to the debug sections of a program that the linkers here cannot make.

import CCompression

/// Appends the compressed bytes and points the section's header at them; layouts as in elf(5).
func packDebugSections(of file: [UInt8]) -> [UInt8] {
  var file = file
  for header in file.debugSectionHeaders {
    let (offset, size) = (file.number(at: header + 24, 8), file.number(at: header + 32, 8))
    var packed = [UInt8](repeating: 0, count: ZSTD_compressBound(size))
    let count = unsafe file[offset..<offset + size].withUnsafeBytes { plain in
      unsafe packed.withUnsafeMutableBytes {
        unsafe ZSTD_compress($0.baseAddress, $0.count, plain.baseAddress, plain.count, 3)
      }
    }
    // ELFCOMPRESS_ZSTD 2; SHF_COMPRESSED 0x800.
    let start = file.count
    file += [UInt8](repeating: 0, count: 24) + packed[..<count]
    file.set(2, at: start, 4)
    file.set(size, at: start + 8, 8)
    file.set(1, at: start + 16, 8)
    file.set(file.number(at: header + 8, 8) | 0x800, at: header + 8, 8)
    file.set(start, at: header + 24, 8)
    file.set(24 + count, at: header + 32, 8)
  }
  return file
}

/// Lets each compressed debug section say that it unpacks to so many bytes.
func stateUnpackedSize(_ size: Int, in file: [UInt8]) -> [UInt8] {
  var file = file
  for header in file.debugSectionHeaders where file.number(at: header + 8, 8) & 0x800 != 0 {
    file.set(size, at: file.number(at: header + 24, 8) + 8, 8)
  }
  return file
}

extension [UInt8] {
  fileprivate var debugSectionHeaders: [Int] {
    let table = number(at: 0x28, 8)
    let names = number(at: table + 64 * number(at: 0x3E, 2) + 24, 8)
    return (0..<number(at: 0x3C, 2)).map { table + 64 * $0 }
      .filter { self[(names + number(at: $0, 4))...].starts(with: ".debug_".utf8) }
  }

  fileprivate func number(at place: Int, _ width: Int) -> Int {
    self[place..<place + width].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  fileprivate mutating func set(_ value: Int, at place: Int, _ width: Int) {
    for byte in 0..<width { self[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
  }
}
