// The address ranges of a module's compilation units, read once.

internal import CElfutils
internal import Glibc
internal import Linux

/// `.debug_aranges`, by which libdw finds units, is not complete in what Clang and Swift emit; the units' own ranges are.
///
/// Reading can stop at any unit and go on later.
@safe struct UnitIndex {
  private struct Piece {
    var start: UInt64
    var length: UInt32
    var unit: UInt32

    func contains(_ address: UInt64) -> Bool { address &- start < UInt64(length) }
  }

  /// 32 MB. Units beyond either limit have no lines.
  static let maximumPieces = 2_000_000
  /// libdw keeps 2.4 KB of each.
  static let maximumUnits = 50_000
  /// How much of the file is read before its pages are given back.
  private static let stretch: UInt64 = 16 << 20

  private var pieces: [Piece] = []
  private var units: [DebugEntry] = []
  private var cursor: OpaquePointer?
  private var isSorted = true
  /// Every unit that can be read was.
  private(set) var isComplete = false
  private(set) var isDamaged = false

  var unitCount: Int { units.count }
  var isFull: Bool { units.count == Self.maximumUnits || pieces.count >= Self.maximumPieces }

  /// Reads on until the moment. Linkers leave ranges of functions that they dropped, near address 0: only those that
  /// begin where the module has code count.
  mutating func extend(over file: DebugFile, code: [Range<UInt64>], until deadline: Int64) {
    if isComplete { return }
    var released: UInt64 = 0
    while !isFull, Clock.monotonicNanoseconds < deadline {
      guard var unit = nextUnit(of: file) else {
        isComplete = true
        break
      }
      guard unit.kind == .compilationUnit else { continue }
      addRanges(of: unit, code)
      if unit.offset > released &+ Self.stretch {
        file.releasePages()
        released = unit.offset
      }
    }
    if isFull { isComplete = true }
    if !isSorted { pieces.sort { ($0.start, $0.unit) < ($1.start, $1.unit) } }
    isSorted = true
    file.releasePages()
  }

  private mutating func nextUnit(of file: DebugFile) -> DebugEntry? {
    var next: OpaquePointer?
    var unit = unsafe Dwarf_Die()
    let state = unsafe dwarf_get_units(file.dwarf, cursor, &next, nil, nil, &unit, nil)
    isDamaged = state < 0
    guard state == 0 else { return nil }
    unsafe cursor = next
    return unsafe DebugEntry(unit)
  }

  private mutating func addRanges(of unit: DebugEntry, _ code: [Range<UInt64>]) {
    let number = UInt32(units.count)
    units.append(unit)
    isSorted = false
    var unit = unit
    unit.forEachRange { start, end in
      guard start < end, code.contains(where: { $0.contains(start) }) else { return true }
      let length = UInt32(clamping: end - start)
      if let last = pieces.last, last.unit == number, last.start + UInt64(last.length) == start,
        UInt64(last.length) + UInt64(length) <= UInt32.max
      {
        pieces[pieces.count - 1].length += length
      } else {
        pieces.append(Piece(start: start, length: length, unit: number))
      }
      return pieces.count < Self.maximumPieces
    }
  }

  /// The unit whose range begins closest before the address.
  func unit(at address: UInt64) -> DebugEntry? {
    var low = 0
    var high = pieces.count
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].start <= address { low = middle + 1 } else { high = middle }
    }
    // Ranges of units hardly ever overlap; one that lies around others is still found near by.
    return pieces[..<low].suffix(64).last { $0.contains(address) }.map { units[Int($0.unit)] }
  }
}
