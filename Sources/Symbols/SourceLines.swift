// The debug information of the modules met so far, within bounds.

internal import StallCore

struct SourceLines {
  private struct Module {
    /// Nil if there is none, if it cannot be used, or if it was closed to make room.
    var information: DebugInformation?
    var isClosed = false
    var known: [UInt64: [SourceCall]] = [:]
    var lastUse = 0
  }

  /// Each keeps up to two files open and mapped.
  private static let maximumModules = 64
  private static let maximumKnownPerModule = 1024
  /// The module just asked is closed when it keeps this much of line tables; less is not worth reading its units again.
  private static let rowsWorthClosing = 24 << 20

  /// What libdw may keep for all modules together. A module that is closed for it is opened again when needed.
  let limitBytes: Int
  private var modules: [OpenedFile: Module] = [:]
  private var uses = 0

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// The calls at an address, innermost first; empty if nothing is known. What a person should know goes to `tell`.
  mutating func calls(
    at address: UInt64, in identity: OpenedFile, descriptor: Int32, path: ByteString, search: DebugFileSearch,
    deadline: Int64, tell: (SymbolRemark.Kind) -> Void
  ) -> [SourceCall] {
    if let known = modules[identity]?.known[address] { return known }
    uses += 1
    if modules[identity] == nil {
      if modules.count == Self.maximumModules, let oldest { modules[oldest] = nil }
      modules[identity] = Module(isClosed: true)
    }
    if modules[identity]?.isClosed == true {
      modules[identity]?.information = Self.open(descriptor, path, search, tell)
      modules[identity]?.isClosed = false
    }
    modules[identity]?.lastUse = uses
    guard let information = modules[identity]?.information else { return [] }
    let calls = information.calls(at: address, until: deadline)
    information.takeShortages().forEach { tell($0.remark) }
    if modules[identity]?.known.count == Self.maximumKnownPerModule { modules[identity]?.known = [:] }
    modules[identity]?.known[address] = calls
    makeRoom(besides: identity)
    return calls ?? []
  }

  private var oldest: OpenedFile? { modules.min { $0.value.lastUse < $1.value.lastUse }?.key }

  private mutating func makeRoom(besides current: OpenedFile) {
    let opened = modules.filter { $0.value.information != nil }.sorted { $0.value.lastUse < $1.value.lastUse }
    var bytes = opened.reduce(0) { $0 + ($1.value.information?.byteCount ?? 0) }
    for (identity, module) in opened where bytes > limitBytes {
      guard let information = module.information,
        identity != current || information.rowBytes > Self.rowsWorthClosing
      else { return }
      bytes -= information.byteCount
      modules[identity]?.information = nil
      modules[identity]?.isClosed = true
    }
  }

  private static func open(
    _ descriptor: Int32, _ path: ByteString, _ search: DebugFileSearch, _ tell: (SymbolRemark.Kind) -> Void
  ) -> DebugInformation? {
    do throws(DebugFailure) {
      let information = try DebugInformation(descriptor: descriptor, path: path, search: search) {
        tell(.refusedDebugFile($0))
      }
      information.file.refusals.forEach { tell(.refusedDebugFile($0)) }
      information.file.missingAlternate.map { tell(.missingAlternate($0)) }
      return information
    } catch {
      // That a system library has none is the rule and no news.
      if error != .absent { tell(.noLines(error)) }
      return nil
    }
  }
}

extension DebugShortage {
  fileprivate var remark: SymbolRemark.Kind {
    switch self {
    case .damaged: .damagedLines
    case .outOfTime: .outOfTime
    case .tooLarge: .tooLarge
    case .missingSplitFile(let name): .missingSplitFile(name)
    }
  }
}
