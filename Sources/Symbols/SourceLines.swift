// The debug information of the modules met so far, within bounds.

internal import StallCore

struct SourceLines {
  private struct Module {
    /// Nil if there is none or it cannot be used.
    var information: DebugInformation?
    var lastUse = 0
  }

  /// Each keeps up to two files open and mapped.
  private static let maximumModules = 64

  private var modules: [OpenedFile: Module] = [:]
  private var uses = 0

  /// The calls at an address, innermost first; empty if nothing is known. What a person should know goes to `tell`.
  mutating func calls(
    at address: UInt64, in identity: OpenedFile, descriptor: Int32, path: ByteString, search: DebugFileSearch,
    deadline: Int64, tell: (SymbolRemark.Kind) -> Void
  ) -> [SourceCall] {
    uses += 1
    if modules[identity] == nil || modules[identity]?.information?.isFull == true {
      modules[identity] = nil
      if modules.count == Self.maximumModules,
        let oldest = modules.min(by: { $0.value.lastUse < $1.value.lastUse })
      {
        modules[oldest.key] = nil
      }
      modules[identity] = Module(information: Self.open(descriptor, path, search, tell))
    }
    modules[identity]?.lastUse = uses
    guard let information = modules[identity]?.information else { return [] }
    let calls = information.calls(at: address, until: deadline)
    information.takeShortages().forEach { tell($0.remark) }
    return calls
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
    case .lineTableTooLarge: .lineTableTooLarge
    case .missingSplitFile(let name): .missingSplitFile(name)
    }
  }
}
