// Mangled names as compilers write them, from this program itself and from the libraries it has loaded.

import Linux

enum RealNames {
  static var swift: [[UInt8]] { names(in: "/proc/self/exe", section: ".strtab", prefix: "$s") }

  static var cpp: [[UInt8]] { names(in: library("libstdc++.so"), section: ".dynstr", prefix: "_Z") }

  /// Two hundred of them, evenly spread.
  private static func names(in path: String, section: String, prefix: String) -> [[UInt8]] {
    guard let image = image(of: path), let strings = image.section(named: section) else { return [] }
    var names: [[UInt8]] = []
    for piece in 0..<200 {
      let start = strings.fileOffset + strings.fileSize / 200 * UInt64(piece)
      let bytes = image.pages.bytes(at: start, count: Int(min(8192, strings.fileSize / 200))) ?? []
      let name = bytes.split(separator: 0).dropFirst().first { $0.starts(with: prefix.utf8) }
      names += name.map { [Array($0)] } ?? []
    }
    return names
  }

  private static func image(of path: String) -> ElfImage? {
    do {
      return try ElfImage(
        pages: FilePages(file: FileDescriptor.open(path)),
        identity: FileIdentity(deviceMajor: 0, deviceMinor: 0, inode: 0))
    } catch {
      return nil
    }
  }

  private static func library(_ name: String) -> String {
    let map = MemoryMap(parsing: (try? readPseudoFile("/proc/self/maps", limit: 1 << 20)) ?? [])
    let path = map.regions.first { String(decoding: $0.path, as: UTF8.self).contains("/\(name)") }?.path
    return path.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
