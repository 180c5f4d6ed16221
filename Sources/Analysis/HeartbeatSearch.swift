// Where in a process the variable of a name is: searched in the files of its modules, in the analyst.

package import Linux
internal import Stacks
package import StallCore
internal import Symbols

/// One search in one list of mappings.
struct HeartbeatSearch {
  private let name: HeartbeatName
  private let space: AddressSpace
  private var hits: [(module: LoadedModule, variable: VariableSearch.Variable)] = []
  private var unusable: VariableSearch.Unusable?
  private var nearest: [ByteString] = []
  private var isInReadOnlyMemory = false

  private static let mostShown = 6

  init(_ name: HeartbeatName, in space: AddressSpace) {
    self.name = name
    self.space = space
  }

  mutating func finding() -> HeartbeatFinding {
    let modules = modules()
    let wanted = modules.filter { name.means(moduleAt: $0.reference.path) }
    if wanted.isEmpty { return .noModule(modules: modules.prefix(Self.mostShown).map(\.reference.name)) }
    switch name.place {
    case .offset(let offset):
      guard wanted.count == 1 else { return .several(wanted.map { Self.place(offset, in: $0) }) }
      // The lower half of a counter of eight bytes changes as often as the whole.
      take(VariableSearch.Variable(name: name.text, address: offset, width: 4), in: wanted[0])
    case .symbol(let symbol): for module in wanted { search(symbol, in: module) }
    }
    return conclusion
  }

  /// Each once, in the order of their addresses; only those whose files can be read.
  private func modules() -> [LoadedModule] {
    var known: Set<FileIdentity> = []
    return space.map.regions.compactMap { region in
      guard region.hasFile, known.insert(region.identity).inserted,
        let module = space.module(containing: region.start), module.image != nil, module.loadBias != nil
      else { return nil }
      return module
    }
  }

  private mutating func search(_ symbol: ByteString, in module: LoadedModule) {
    guard let descriptor = module.image?.rawDescriptor else { return }
    var search = VariableSearch(for: symbol)
    search.search(descriptor: descriptor, path: module.reference.path, debugFiles: DebugFileSearch())
    for variable in search.variables { take(variable, in: module) }
    unusable = unusable ?? search.unusable
    for name in search.nearest where nearest.count < Self.mostShown && !nearest.contains(name) {
      nearest.append(name)
    }
  }

  private mutating func take(_ variable: VariableSearch.Variable, in module: LoadedModule) {
    let region = space.region(containing: variable.address &+ (module.loadBias ?? 0))
    if region?.permissions.contains(.write) ?? false {
      hits.append((module, variable))
    } else {
      isInReadOnlyMemory = true
    }
  }

  private var conclusion: HeartbeatFinding {
    if hits.count > 1 { return .several(hits.prefix(Self.mostShown).map { place($0.module, $0.variable) }) }
    if let (module, variable) = hits.first {
      return .found(
        address: variable.address &+ (module.loadBias ?? 0), width: variable.width,
        place: place(module, variable))
    }
    if isInReadOnlyMemory { return .unusable(why: "lies where nothing can be written, so it never changes") }
    if let unusable { return .unusable(why: unusable.text) }
    return .unknown(nearest: nearest)
  }

  /// By its name where the module has one of that name only.
  private func place(_ module: LoadedModule, _ variable: VariableSearch.Variable) -> ByteString {
    let isOnly = hits.filter { $0.module.reference == module.reference }.count < 2
    guard isOnly, case .symbol = name.place else { return Self.place(variable.address, in: module) }
    return ByteString(module.reference.name.bytes + [UInt8(ascii: ":")] + variable.name.bytes)
  }

  private static func place(_ offset: UInt64, in module: LoadedModule) -> ByteString {
    ByteString(module.reference.name.bytes + Array("+0x\(String(offset, radix: 16))".utf8))
  }
}

extension HeartbeatFinding {
  package var encoded: [UInt8] {
    var writer = MessageWriter()
    switch self {
    case .found(let address, let width, let place):
      writer.append(UInt64(0))
      writer.append(address)
      writer.append(width)
      writer.append(place.bytes)
    case .several(let names): writer.append(1, names)
    case .unusable(let why):
      writer.append(UInt64(2))
      writer.append(Array(why.utf8))
    case .unknown(let names): writer.append(3, names)
    case .noModule(let names): writer.append(4, names)
    case .failed(let why):
      writer.append(UInt64(5))
      writer.append(Array(why.utf8))
    }
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    switch try reader.word() {
    case 0:
      let address = try reader.word()
      let width = try reader.integer(in: 4...8)
      guard width == 4 || width == 8 else { throw MessageReader.Malformed() }
      self = .found(address: address, width: width, place: ByteString(try reader.string()))
    case 1: self = .several(try reader.names())
    case 2: self = .unusable(why: String(decoding: try reader.string(), as: UTF8.self))
    case 3: self = .unknown(nearest: try reader.names())
    case 4: self = .noModule(modules: try reader.names())
    case 5: self = .failed(why: String(decoding: try reader.string(), as: UTF8.self))
    default: throw MessageReader.Malformed()
    }
    guard reader.isAtEnd else { throw MessageReader.Malformed() }
  }
}

extension MessageWriter {
  fileprivate mutating func append(_ kind: UInt64, _ names: [ByteString]) {
    append(kind)
    append(names.count)
    for name in names { append(name.bytes) }
  }
}

extension MessageReader {
  fileprivate mutating func names() throws(Malformed) -> [ByteString] {
    try list { (reader) throws(Malformed) in ByteString(try reader.string()) }
  }
}
