// Opens files for the analyst, which cannot, and keeps them: they outlive their names, the target, and the analyst.

internal import Linux
internal import Stacks
internal import StallCore

/// Opening is done in a helper process of its own, since a filesystem need not answer. Only what the target's mappings
/// or its debug information can mean is opened.
struct FileBroker: ~Copyable {
  private let process: Int32
  private var helper: CaptureHelper
  private var opened: [FileIdentity: SharedFile?] = [:]
  private var map: (source: SealedBytes, map: MemoryMap)?
  /// Of a list that took all the time that it may: each time is one that a report waits.
  private var mapsRetry = RetrySpacing()
  /// Modules that nobody but the target can open.
  private var copied: [ByteString] = []

  private static let mostOpened = 256
  private static let mostMapBytes = 64 << 20
  private static let longestMapReading: Duration = .seconds(2)

  init(process: Int32, helper: consuming CaptureHelper) {
    self.process = process
    self.helper = helper
  }

  var cpuTime: Duration { helper.cpuTime }

  /// Starts the helper before it is needed; what fails is told by the first question.
  mutating func prepare() { try? helper.prepare() }

  /// Lets the helper go until the next question.
  mutating func rest() { helper.rest() }

  mutating func readMaps(of thread: Int32) -> SealedBytes? {
    let began = Instant(nanoseconds: Clock.monotonicNanoseconds)
    guard mapsRetry.isDue(at: began) else { return nil }
    let maps = try? helper.readMaps(
      processID: process, threadID: thread, deadline: Self.longestMapReading)
    let end = Instant(nanoseconds: Clock.monotonicNanoseconds)
    if maps != nil {
      mapsRetry = RetrySpacing()
    } else if end - began >= Self.longestMapReading {
      mapsRetry.refuse(at: end)
    }
    return maps
  }

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

  /// The file mapped at a region, or a copy of its mappings. Only if the list has that very region: an analyst in
  /// strange hands can ask for anything, and a sound one for a mapping of an older list.
  mutating func file(mappedAt region: MemoryRegion, of maps: SealedBytes) -> SharedFile? {
    guard region.hasFile, self.region(at: region.start, in: maps) == region else { return nil }
    if let known = opened[region.identity] { return known }
    let file = (try? helper.openMappedFile(region, of: process)) ?? copy(region)
    if opened.count >= Self.mostOpened { opened.removeAll() }
    opened[region.identity] = .some(file)
    return file
  }

  private mutating func copy(_ region: MemoryRegion) -> SharedFile? {
    let regions = map?.map.regions.filter { $0.identity == region.identity } ?? []
    guard let file = try? helper.copyModule(regions, of: process) else { return nil }
    copied.append(ByteString(region.path))
    return file
  }

  /// What came up about files since the last call.
  mutating func takeRemarks() -> [ByteString] {
    defer { copied = [] }
    return copied.map {
      ByteString("\($0.escaped) cannot be opened: its code and exported names are taken from memory")
    }
  }

  mutating func debugFile(_ path: [UInt8]) -> SharedFile? {
    guard path.first == UInt8(ascii: "/"), path.count < 4096 else { return nil }
    return try? helper.openDebugFile(path, of: process)
  }

  mutating func perfMap() -> SharedFile? { try? helper.openPerfMap(of: process) }
}
