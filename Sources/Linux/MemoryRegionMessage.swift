// Mappings in a message between two of our processes.

extension [MemoryRegion] {
  /// The regions of one module: more than a few dozen is no real one.
  private static var most: Int { 64 }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.append(Swift.min(count, Self.most))
    for region in prefix(Self.most) {
      for word in [region.start, region.end, UInt64(region.permissions.rawValue), region.fileOffset] {
        writer.append(word)
      }
      writer.append(UInt64(region.identity.deviceMajor))
      writer.append(UInt64(region.identity.deviceMinor))
      writer.append(region.identity.inode)
      writer.append(region.isDeleted)
      writer.append(region.path)
    }
    return writer.bytes
  }

  package init?(decoding bytes: [UInt8]) {
    var reader = MessageReader(bytes)
    do throws(MessageReader.Malformed) { self = try reader.list(MemoryRegion.init) } catch { return nil }
  }
}

extension MemoryRegion {
  fileprivate init(_ reader: inout MessageReader) throws(MessageReader.Malformed) {
    let (start, end, permissions, offset) = (
      try reader.word(), try reader.word(), try reader.word(), try reader.word()
    )
    guard start < end else { throw MessageReader.Malformed() }
    let identity = FileIdentity(
      deviceMajor: UInt32(truncatingIfNeeded: try reader.word()),
      deviceMinor: UInt32(truncatingIfNeeded: try reader.word()), inode: try reader.word())
    let isDeleted = try reader.flag()
    self.init(
      start: start, end: end, permissions: Permissions(rawValue: UInt8(truncatingIfNeeded: permissions)),
      fileOffset: offset, identity: identity, path: try reader.string(), isDeleted: isDeleted)
  }
}
