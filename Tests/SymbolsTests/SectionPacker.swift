// Compresses the debug sections of a program with zstd, which the linkers here cannot.

import CCompression

/// Appends the compressed bytes and points the section's header at them; layouts as in elf(5).
func packDebugSections(of file: [UInt8]) -> [UInt8] {
  var file = file
  let table = file.number(at: 0x28, 8)
  let nameHeader = table + 64 * file.number(at: 0x3E, 2)
  let names = file.number(at: nameHeader + 24, 8)
  for index in 0..<file.number(at: 0x3C, 2) {
    let header = table + 64 * index
    let name = names + file.number(at: header, 4)
    guard file[name...].starts(with: ".debug_".utf8) else { continue }
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

extension [UInt8] {
  fileprivate func number(at place: Int, _ width: Int) -> Int {
    self[place..<place + width].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  fileprivate mutating func set(_ value: Int, at place: Int, _ width: Int) {
    for byte in 0..<width { self[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
  }
}
