// Finds the separate debug file of a module, and says which files were found but are not its own.

internal import CCompression
internal import CElfutils
internal import Glibc
internal import Linux
package import StallCore

/// Where separate debug files are looked for: by build-id below each directory, then by the name in the debug link,
/// beside the module, in its `.debug`, and below each directory at the module's path (as gdb does). Never over a
/// network.
///
/// Paths are opened in the mount namespace of the caller and are chosen by the module: search only where open(2) leads
/// to regular files alone.
package struct DebugFileSearch: Sendable {
  package static let standardDirectories: [ByteString] = [ByteString("/usr/lib/debug")]

  let directories: [ByteString]

  package init(directories: [ByteString] = standardDirectories) { self.directories = directories }

  /// A debug file that was found and not used.
  package enum Refusal: Hashable, Sendable {
    /// Its build-id, or its checksum where there is none.
    case otherBuild(ByteString)
    case unreadable(ByteString)
  }

  struct Outcome: ~Copyable {
    var file: FileDescriptor?
    var path = ByteString([])
    var refusals: [Refusal] = []
  }

  /// The debug file of a module that was opened from `path`.
  func find(forModule descriptor: Int32, path: ByteString) -> Outcome {
    var outcome = Outcome()
    guard let module = try? ElfFile(descriptor: descriptor) else { return outcome }
    let buildID = module.buildID
    let link = module.debugLink
    for candidate in candidates(buildID: buildID, link: link?.name, path: path) {
      switch Self.open(candidate) {
      case .absent: continue
      case .refused: outcome.refusals.append(.unreadable(candidate))
      case .opened(let raw):
        let file = FileDescriptor(owning: raw)
        if Self.isSameFile(raw, descriptor) { continue }
        if Self.belongs(raw, buildID: buildID, checksum: link?.checksum) {
          outcome.file = consume file
          outcome.path = candidate
          return outcome
        }
        outcome.refusals.append(.otherBuild(candidate))
      }
    }
    return outcome
  }

  /// The file that dwz moved the parts common to several debug files to: by build-id, then as `.gnu_debugaltlink`
  /// names it, relative to the debug file that names it.
  func findAlternate(named name: ByteString, buildID: [UInt8], besides debugFile: ByteString) -> Outcome {
    var outcome = Outcome()
    let isAbsolute = name.bytes.first == UInt8(ascii: "/")
    let named = isAbsolute ? name : ByteString(Self.directory(of: debugFile) + name.bytes)
    for candidate in byBuildID(buildID) + [named] {
      switch Self.open(candidate) {
      case .absent: continue
      case .refused: outcome.refusals.append(.unreadable(candidate))
      case .opened(let raw):
        let file = FileDescriptor(owning: raw)
        if Self.buildID(of: raw) == buildID {
          outcome.file = consume file
          outcome.path = candidate
          return outcome
        }
        outcome.refusals.append(.otherBuild(candidate))
      }
    }
    return outcome
  }

  private func candidates(buildID: [UInt8]?, link: ByteString?, path: ByteString) -> [ByteString] {
    let identified = buildID.map(byBuildID) ?? []
    guard let link, path.bytes.first == UInt8(ascii: "/") else { return identified }
    let directory = Self.directory(of: path)
    let around =
      [directory, directory + Array(".debug/".utf8)] + directories.map { $0.bytes + directory }
    return identified + around.map { ByteString($0 + link.bytes) }
  }

  private func byBuildID(_ buildID: [UInt8]) -> [ByteString] {
    guard buildID.count > 2 else { return [] }
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = Array("/.build-id/".utf8)
    for (position, byte) in buildID.enumerated() {
      text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      if position == 0 { text.append(UInt8(ascii: "/")) }
    }
    return directories.map { ByteString($0.bytes + text + Array(".debug".utf8)) }
  }

  /// With its last slash.
  private static func directory(of path: ByteString) -> [UInt8] {
    Array(path.bytes[..<((path.bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)])
  }
}

extension DebugFileSearch {
  private enum Opening {
    case opened(Int32)
    case absent
    case refused
  }

  private static func open(_ path: ByteString) -> Opening {
    guard !path.bytes.contains(0) else { return .absent }
    do throws(Errno) {
      let raw = try systemCall {
        unsafe (path.bytes + [0]).withUnsafeBytes {
          unsafe Glibc.open(
            $0.assumingMemoryBound(to: CChar.self).baseAddress!, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        }
      }
      return .opened(raw)
    } catch {
      return [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(error.code) ? .absent : .refused
    }
  }

  /// A debug link may name the module itself.
  private static func isSameFile(_ left: Int32, _ right: Int32) -> Bool {
    var one = stat()
    var two = stat()
    guard unsafe fstat(left, &one) == 0, unsafe fstat(right, &two) == 0 else { return false }
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino
  }

  private static func buildID(of descriptor: Int32) -> [UInt8]? {
    guard let file = try? ElfFile(descriptor: descriptor) else { return nil }
    return file.buildID
  }

  /// Equal build-ids say that it is the module's; the checksum of a whole file is only computed without them.
  private static func belongs(_ descriptor: Int32, buildID: [UInt8]?, checksum: UInt32?) -> Bool {
    guard let file = try? ElfFile(descriptor: descriptor) else { return false }
    if let buildID, let other = file.buildID { return buildID == other }
    guard let checksum else { return false }
    return self.checksum(of: descriptor) == checksum
  }

  private static let maximumChecksummedBytes = 1 << 30

  private static func checksum(of descriptor: Int32) -> UInt32? {
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    var sum: UInt32 = 0
    var offset = 0
    while offset < maximumChecksummedBytes {
      let place = offset
      let count = try? systemCall {
        unsafe piece.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, place) }
      }
      guard let count else { return nil }
      if count == 0 { return sum }
      sum = unsafe piece.withUnsafeBytes { unsafe ccompression_crc32(sum, $0.baseAddress, count) }
      offset += count
    }
    return nil
  }
}
