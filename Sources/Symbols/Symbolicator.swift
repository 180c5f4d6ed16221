// Names for the frames of stacks: keeps the indexes of the modules it has met and the addresses it has named.

internal import Glibc
package import StallCore

/// What a person should know about a module's names; told once per module.
package struct SymbolRemark: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Only exported functions have names.
    case stripped
    /// Some table could not be used; names come from the rest.
    case incomplete
    case noNames(SymbolFailure)
  }

  package var module: ModuleReference?
  package var kind: Kind

  package var text: String {
    let name = module?.name.escaped ?? "a module"
    let build = module?.buildID.map { " (build-id \($0))" } ?? ""
    return switch kind {
    case .stripped: "\(name)\(build) is stripped: only its exported functions have names"
    case .incomplete: "\(name)\(build) has a damaged symbol table: some functions have no names"
    case .noNames(.noSymbols): "\(name)\(build) has no symbols: its functions have no names"
    case .noNames(.notELF): "\(name)\(build) is no 64-bit ELF file: it has no names"
    case .noNames(.unreadable): "\(name)\(build) cannot be read: its functions have no names"
    case .noNames(.damaged): "\(name)\(build) is a damaged ELF file: its functions have no names"
    case .noNames(.tooLarge): "\(name)\(build) has too many symbols: its functions have no names"
    }
  }
}

/// Never fails: what has no name keeps its module and offset, and a remark says why.
package struct Symbolicator {
  /// Which file it is, and that nobody rewrote it in place.
  private struct FileIdentity: Hashable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var changedNanoseconds: Int64
  }

  private struct Name {
    var raw: ByteString
    var display: ByteString
    var start: UInt64
  }

  private struct Module {
    var index: SymbolIndex?
    var names: [UInt64: Name?] = [:]
    var lastUse = 0
  }

  private static let maximumNamesPerModule = 8192
  private static let maximumModules = 4096

  private let limitBytes: Int
  private var modules: [FileIdentity: Module] = [:]
  private var uses = 0
  private var remarked: Set<FileIdentity> = []
  private var remarks: [SymbolRemark] = []

  /// `limitBytes` bounds all indexes together; a single larger one is kept alone.
  package init(limitBytes: Int = 96 << 20) { self.limitBytes = limitBytes }

  /// Bytes held by the indexes.
  package var byteCount: Int { modules.values.reduce(0) { $0 + ($1.index?.byteCount ?? 0) } }

  /// The remarks that came up since the last call.
  package mutating func takeRemarks() -> [SymbolRemark] {
    defer { remarks = [] }
    return remarks
  }

  /// Names the frames of one stack, innermost first. `descriptor` gives the opened file of a frame's module, or nil.
  ///
  /// A caller's address is where it goes on after the call, which may already be the next function: its name is that
  /// of the byte before. The innermost frame and the one that a signal interrupted were to execute their address.
  package mutating func name(_ frames: inout [Frame], descriptor: (Frame) -> Int32?) {
    for index in frames.indices {
      guard let descriptor = descriptor(frames[index]), let offset = frames[index].moduleOffset else {
        continue
      }
      let isExact = index == 0 || frames[index - 1].isSignalFrame || frames[index].isSignalFrame
      name(&frames[index], lookup: isExact ? offset : offset &- 1, descriptor: descriptor)
    }
  }

  /// Names one frame from an address in its module's own terms and the module's opened file.
  package mutating func name(_ frame: inout Frame, lookup address: UInt64, descriptor: Int32) {
    guard let identity = Self.identity(of: descriptor) else {
      remarks.append(SymbolRemark(module: frame.module, kind: .noNames(.unreadable)))
      return
    }
    load(identity, descriptor: descriptor, for: frame.module)
    guard let name = name(of: address, in: identity) else { return }
    frame.symbol = name.display
    frame.rawSymbol = name.raw == name.display ? nil : name.raw
    frame.symbolOffset = (frame.moduleOffset ?? address) &- name.start
  }

  private mutating func name(of address: UInt64, in identity: FileIdentity) -> Name? {
    if let known = modules[identity]?.names[address] { return known }
    let found = modules[identity]?.index?.match(address).map { match in
      Name(raw: match.rawName, display: SymbolName(raw: match.rawName).display, start: match.start)
    }
    if modules[identity]?.names.count == Self.maximumNamesPerModule { modules[identity]?.names = [:] }
    modules[identity]?.names[address] = .some(found)
    return found
  }

  private mutating func load(_ identity: FileIdentity, descriptor: Int32, for module: ModuleReference?) {
    uses += 1
    if modules[identity] == nil {
      if modules.count == Self.maximumModules { modules = [:] }
      let index = read(identity, descriptor: descriptor, for: module)
      makeRoom(for: index?.byteCount ?? 0)
      modules[identity] = Module(index: index)
    }
    modules[identity]?.lastUse = uses
  }

  private mutating func read(
    _ identity: FileIdentity, descriptor: Int32, for module: ModuleReference?
  ) -> SymbolIndex? {
    do throws(SymbolFailure) {
      let index = try SymbolIndex(descriptor: descriptor)
      if index.isIncomplete {
        remark(.incomplete, identity, module)
      } else if index.coverage == .exported {
        remark(.stripped, identity, module)
      }
      return index
    } catch {
      remark(.noNames(error), identity, module)
      return nil
    }
  }

  private mutating func remark(
    _ kind: SymbolRemark.Kind, _ identity: FileIdentity, _ module: ModuleReference?
  ) {
    guard remarked.count < Self.maximumModules, remarked.insert(identity).inserted else { return }
    remarks.append(SymbolRemark(module: module, kind: kind))
  }

  private mutating func makeRoom(for bytes: Int) {
    while byteCount + bytes > limitBytes,
      let oldest = modules.filter({ $0.value.index != nil }).min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      modules[oldest.key] = nil
    }
  }

  private static func identity(of descriptor: Int32) -> FileIdentity? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    let changed = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    return FileIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      changedNanoseconds: changed)
  }
}
