// The map of generated code that a runtime writes for perf: `perf-PID.map`, lines of start, size and name.

internal import Glibc
package import Linux
package import StallCore

/// Format: tools/perf/Documentation/jit-interface.txt of the kernel: hexadecimal start and size, then the name up to the
/// end of the line. Runtimes append as they compile and move code, so a later line is right where two overlap;
/// a last line without an end is still being written.
package struct PerfMap: Sendable {
  private struct Piece {
    var start: UInt64
    /// Number of the entry that the addresses from here on belong to.
    var entry: UInt32
  }

  private struct Entry {
    var start: UInt64
    var end: UInt64
    var name: UInt32
    var nameLength: UInt16
  }

  package static let defaultLimit = 32 << 20
  private static let maximumEntries = 1_000_000
  private static let maximumName = 1024
  private static let noEntry = UInt32.max

  private var entries: [Entry] = []
  private var names: [UInt8] = []
  private var pieces: [Piece] = []
  /// The file is larger than the limit, or the deadline came first: names are those of its end, as far as it was read.
  package private(set) var isTruncated = false

  package var count: Int { entries.count }
  package var byteCount: Int {
    entries.count * MemoryLayout<Entry>.stride + pieces.count * MemoryLayout<Piece>.stride + names.count
  }

  /// Reads the last `limitBytes` of an opened regular file, which stays the caller's, until the moment.
  package init(
    descriptor: Int32, limitBytes: Int = defaultLimit, deadline: Int64 = .max
  ) throws(Errno) {
    var status = stat()
    _ = try systemCall { unsafe fstat(descriptor, &status) }
    var offset = max(0, Int(status.st_size) - limitBytes)
    // The first line is cut unless the byte before it ends another.
    var isInCutLine = offset > 0
    if isInCutLine { offset -= 1 }
    isTruncated = isInCutLine
    let end = offset + limitBytes + 1
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    var line: [UInt8] = []
    while offset < end {
      if Clock.monotonicNanoseconds >= deadline || entries.count == Self.maximumEntries {
        isTruncated = true
        break
      }
      let (place, room) = (offset, min(piece.count, end - offset))
      let count = try systemCall {
        unsafe piece.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, room, place) }
      }
      if count == 0 { break }
      offset += count
      for part in piece[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .enumerated()
      {
        if part.offset > 0 {
          if !isInCutLine { add(line) }
          isInCutLine = false
          line.removeAll(keepingCapacity: true)
        }
        line += part.element.prefix(Self.maximumName + 64 - min(line.count, Self.maximumName + 64))
      }
    }
    arrange()
  }

  /// The name of the code at an address and where that code starts.
  package func name(for address: UInt64) -> (name: ByteString, start: UInt64)? {
    var low = 0
    var high = pieces.count
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, pieces[low - 1].entry != Self.noEntry else { return nil }
    let entry = entries[Int(pieces[low - 1].entry)]
    let name = names[Int(entry.name)..<Int(entry.name) + Int(entry.nameLength)]
    return (ByteString(name), entry.start)
  }

  private mutating func add(_ line: [UInt8]) {
    var rest = line[...]
    guard entries.count < Self.maximumEntries, let start = Self.takeNumber(&rest),
      let size = Self.takeNumber(&rest), size > 0, !rest.isEmpty
    else { return }
    let (end, overflow) = start.addingReportingOverflow(size)
    if overflow { return }
    let name = rest.prefix(Self.maximumName)
    entries.append(
      Entry(start: start, end: end, name: UInt32(names.count), nameLength: UInt16(name.count)))
    names += name
  }

  /// A hexadecimal number and the blank behind it; runtimes write it with and without `0x`.
  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    guard let blank = rest.prefix(20).firstIndex(of: UInt8(ascii: " ")) else { return nil }
    var digits = rest[..<blank]
    if digits.starts(with: "0x".utf8) { digits = digits.dropFirst(2) }
    rest = rest[(blank + 1)...]
    guard digits.first.map({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) == true else { return nil }
    return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

extension PerfMap {
  /// Cuts the addresses into pieces that each belong to one entry: from the newest entry to the oldest, each takes what
  /// is still free between its bounds. `free` leads from a taken piece to the next one that may be free.
  private mutating func arrange() {
    let bounds = entries.flatMap { [$0.start, $0.end] }.sorted()
    var starts: [UInt64] = []
    starts.reserveCapacity(bounds.count)
    for bound in bounds where starts.last != bound { starts.append(bound) }
    var owners = [UInt32](repeating: Self.noEntry, count: starts.count)
    var free = Array(0...UInt32(starts.count))
    func firstFree(_ from: UInt32) -> UInt32 {
      var place = from
      while free[Int(place)] != place {
        free[Int(place)] = free[Int(free[Int(place)])]
        place = free[Int(place)]
      }
      return place
    }
    for number in entries.indices.reversed() {
      var place = firstFree(Self.position(of: entries[number].start, in: starts))
      while Int(place) < starts.count, starts[Int(place)] < entries[number].end {
        owners[Int(place)] = UInt32(number)
        free[Int(place)] = place + 1
        place = firstFree(place + 1)
      }
    }
    for (place, owner) in owners.enumerated() where pieces.last?.entry != owner {
      pieces.append(Piece(start: starts[place], entry: owner))
    }
  }

  private static func position(of bound: UInt64, in starts: [UInt64]) -> UInt32 {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] < bound { low = middle + 1 } else { high = middle }
    }
    return UInt32(low)
  }
}
