// Source lines and inlined calls of one module, from its debug information.

internal import CElfutils
internal import Linux
internal import StallCore

/// One call of the source: a function, and the line it had reached.
struct SourceCall: Hashable {
  /// As the linker sees it; nil if nothing says it.
  var function: ByteString?
  var file: ByteString?
  var line: Int?
}

/// What came up while an address was looked up.
enum DebugShortage: Hashable {
  /// Units could not be read.
  case damaged
  case outOfTime
  /// More units, or a larger line table of one, than may be read.
  case tooLarge
  /// The unit's entries lie in a `.dwo` file that could not be had.
  case missingSplitFile(ByteString)
}

final class DebugInformation {
  let file: DebugFile
  private let code: [Range<UInt64>]
  private var index = UnitIndex()
  private var shortages: Set<DebugShortage> = []
  private var lineTables: Set<UInt64> = []
  private var readLineBytes: UInt64 = 0

  private static let maximumLineTable: UInt64 = 8 << 20

  /// `descriptor` is the module's own and stays the caller's; the debug information may lie in another file.
  init(
    descriptor: Int32, path: ByteString, search: DebugFileSearch,
    refused: (DebugFileSearch.Refusal) -> Void
  ) throws(DebugFailure) {
    let module: ElfFile
    let own: FileDescriptor
    do throws(SymbolFailure) {
      module = try ElfFile(descriptor: descriptor)
    } catch { throw error == .unreadable ? .unreadable : .damaged }
    do throws(Errno) { own = try FileDescriptor.duplicate(descriptor) } catch { throw .unreadable }
    code = module.codeRanges
    do throws(DebugFailure) {
      file = try DebugFile(owning: own, path: path, search: search)
    } catch {
      guard error == .absent else { throw error }
      var found = search.find(forModule: descriptor, path: path)
      found.refusals.forEach(refused)
      guard let separate = found.file.take() else { throw .absent }
      file = try DebugFile(owning: separate, path: found.path, search: search)
    }
  }

  /// About what libdw keeps of the line tables it has read: rows are seven times as large in what GCC emits.
  var rowBytes: Int { Int(readLineBytes) * 8 }

  /// The same with what it keeps of units.
  var byteCount: Int { rowBytes + index.unitCount * 2500 }

  func takeShortages() -> Set<DebugShortage> {
    defer { shortages = [] }
    return shortages
  }

  /// The calls at an address, innermost first; the last one is the function itself, the others were inlined into it.
  /// Nil if the deadline came first.
  func calls(at address: UInt64, until deadline: Int64) -> [SourceCall]? {
    index.extend(over: file, code: code, until: deadline)
    if index.isDamaged { shortages.insert(.damaged) }
    if index.isFull { shortages.insert(.tooLarge) }
    let unit = index.unit(at: address)
    if unit == nil && index.isComplete { return [] }
    guard let unit, Clock.monotonicNanoseconds < deadline else {
      shortages.insert(.outOfTime)
      return nil
    }
    let calls = calls(in: unit, at: address, until: deadline)
    file.releasePages()
    return shortages.contains(.outOfTime) ? nil : calls
  }

  private func calls(in unit: DebugEntry, at address: UInt64, until deadline: Int64) -> [SourceCall] {
    var unit = unit
    let row = isLineTableReadable(of: unit) ? unit.line(at: address) : nil
    var entries = unit.entriesOfUnit ?? unit
    if unit.entriesOfUnit == nil, let name = unit.splitFileName { shortages.insert(.missingSplitFile(name)) }
    let inlined = InlinedCalls(in: entries, at: address, until: deadline)
    if inlined.isUnfinished { shortages.insert(.outOfTime) }
    if inlined.chain.isEmpty { return row.map { [SourceCall(file: $0.file, line: $0.line)] } ?? [] }
    var calls: [SourceCall] = []
    var place = SourceCall(file: row?.file, line: row?.line)
    for position in inlined.chain.indices.reversed() {
      var entry = inlined.chain[position]
      place.function = entry.name
      // An inlined call without a name cannot be shown.
      if position == 0 || place.function != nil { calls.append(place) }
      if position > 0 { place = Self.callSite(of: &entry, in: &entries) }
    }
    return calls
  }

  private static func callSite(of call: inout DebugEntry, in unit: inout DebugEntry) -> SourceCall {
    let file = call.number(Int(DW_AT_call_file)).flatMap { unit.file($0) }
    let line = call.number(Int(DW_AT_call_line)).flatMap { Int(exactly: $0) }
    return SourceCall(file: file, line: file == nil || line == 0 ? nil : line)
  }

  /// libdw reads the whole line table of a unit; what that takes is bounded by the table's length, which stands at its
  /// start (DWARF 5, 6.2.4; 7.4 for the 64-bit format).
  private func isLineTableReadable(of unit: DebugEntry) -> Bool {
    var unit = unit
    guard let offset = unit.number(Int(DW_AT_stmt_list)) else { return false }
    if lineTables.contains(offset) { return true }
    let length = file.withSection(named: ".debug_line") { bytes -> UInt64? in
      guard offset < UInt64(bytes.byteCount), bytes.byteCount - Int(offset) >= 12 else { return nil }
      let short = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: Int(offset), as: UInt32.self)
      if short != .max { return UInt64(short) }
      return unsafe bytes.unsafeLoadUnaligned(fromByteOffset: Int(offset) + 4, as: UInt64.self)
    }
    guard let length = length ?? nil else { return false }
    if length > Self.maximumLineTable {
      shortages.insert(.tooLarge)
      return false
    }
    lineTables.insert(offset)
    readLineBytes += length
    return true
  }
}
