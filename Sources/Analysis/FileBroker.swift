// Opens files for the analyst, which cannot, and keeps them: they outlive their names, the target, and the analyst.

internal import Linux
internal import Stacks

/// Opening is done in a helper process of its own, since a filesystem need not answer. Only what the target's mappings
/// or its debug information can mean is opened.
struct FileBroker: ~Copyable {
  private let process: Int32
  private var helper: CaptureHelper
  private var opened: [FileIdentity: SharedFile?] = [:]
  private var map: (source: SealedBytes, map: MemoryMap)?

  private static let mostOpened = 256
  private static let mostMapBytes = 64 << 20

  init(process: Int32, helper: consuming CaptureHelper) {
    self.process = process
    self.helper = helper
  }

  var cpuTime: Duration { helper.cpuTime }

  /// The region of a list of mappings that holds an address.
  mutating func region(at address: UInt64, in maps: SealedBytes) -> MemoryRegion? {
    parsed(maps)?.region(containing: address)
  }

  private mutating func parsed(_ maps: SealedBytes) -> MemoryMap? {
    if let map, map.source === maps { return map.map }
    guard let bytes = try? maps.bytes(limit: Self.mostMapBytes) else { return nil }
    let parsed = MemoryMap(parsing: bytes)
    map = (maps, parsed)
    return parsed
  }

  /// The file mapped there, or a copy of its mappings.
  mutating func mappedFile(at start: UInt64, in maps: SealedBytes, thread: Int32) -> SharedFile? {
    guard let region = region(at: start, in: maps), region.hasFile else { return nil }
    if let known = opened[region.identity] { return known }
    let file = openMapped(region, thread) ?? copy(region, thread)
    if opened.count >= Self.mostOpened { opened.removeAll() }
    opened[region.identity] = .some(file)
    return file
  }

  /// Through the thread where the process shows nothing, because its first thread has ended.
  private mutating func openMapped(_ region: MemoryRegion, _ thread: Int32) -> SharedFile? {
    if let file = try? helper.openMappedFile(region, of: process) { return file }
    return try? helper.openMappedFile(region, of: thread)
  }

  private mutating func copy(_ region: MemoryRegion, _ thread: Int32) -> SharedFile? {
    let regions = map?.map.regions.filter { $0.identity == region.identity } ?? []
    return try? helper.copyModule(regions, of: thread)
  }

  mutating func debugFile(_ path: [UInt8], thread: Int32) -> SharedFile? {
    guard path.first == UInt8(ascii: "/"), path.count < 4096 else { return nil }
    if let file = try? helper.openDebugFile(path, of: process) { return file }
    return thread == process ? nil : try? helper.openDebugFile(path, of: thread)
  }

  mutating func perfMap(thread: Int32) -> SharedFile? { try? helper.openPerfMap(of: thread) }
}
