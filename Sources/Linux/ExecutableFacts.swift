// What is told of a process by the file that it executes.

package struct ExecutableFacts: Hashable, Sendable {
  package var isThirtyTwoBit: Bool
  /// Go runs goroutines, its scheduler and its poller on whatever thread is free. By its section: cmd/link, `buildinfo`.
  package var isGoProgram: Bool
  package var buildID: String?

  /// Opens the file through the process itself: the path may lead elsewhere by now. Nil if it cannot be opened. Can block
  /// where its filesystem does not answer.
  package init?(process: Int32) {
    guard let file = RegularFile(path: Array("/proc/\(ThreadList.witness(of: process))/exe".utf8)) else {
      return nil
    }
    let identity = file.identity
    let pages = FilePages(file: file.takeDescriptor())
    // e_ident[EI_CLASS] is 1 for ELFCLASS32, elf(5).
    isThirtyTwoBit = pages.bytes(at: 0, count: 5) == [0x7F, 0x45, 0x4C, 0x46, 1]
    let image = try? ElfImage(pages: pages, identity: identity)
    isGoProgram = image?.section(named: ".go.buildinfo") != nil
    buildID = image?.buildID
  }

  package init?(decoding bytes: [UInt8]) {
    var reader = MessageReader(bytes)
    do throws(MessageReader.Malformed) {
      isThirtyTwoBit = try reader.flag()
      isGoProgram = try reader.flag()
      buildID = try reader.optional { (reader) throws(MessageReader.Malformed) in
        String(decoding: try reader.string(), as: UTF8.self)
      }
    } catch { return nil }
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.append(isThirtyTwoBit)
    writer.append(isGoProgram)
    writer.append(optional: buildID) { $0.append(Array($1.utf8)) }
    return writer.bytes
  }
}
