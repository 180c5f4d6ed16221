// What a person should know about a module's names and lines; told once per module.

package import StallCore

package struct SymbolRemark: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Only exported functions have names.
    case stripped
    /// Some table could not be used; names come from the rest.
    case incomplete
    case noNames(SymbolFailure)
    /// A debug file was found and not used.
    case refusedDebugFile(DebugFileSearch.Refusal)
    /// The module has debug information that cannot be used.
    case noLines(DebugFailure)
    /// Units behind some place cannot be read.
    case damagedLines
    case outOfTime
    case tooLarge
    case missingSplitFile(ByteString)
    case missingAlternate(ByteString)
  }

  package var module: ModuleReference?
  package var kind: Kind

  package var text: String {
    let name = module?.name.escaped ?? "a module"
    let build = module?.buildID.map { " (build-id \($0))" } ?? ""
    return "\(name)\(build) \(kind.text)"
  }
}

extension SymbolRemark.Kind {
  /// What one remark per module is enough for.
  enum Subject: Hashable {
    case names, refused, lines, time, size, split, alternate
  }

  var subject: Subject {
    switch self {
    case .stripped, .incomplete, .noNames: .names
    case .refusedDebugFile: .refused
    case .noLines, .damagedLines: .lines
    case .outOfTime: .time
    case .tooLarge: .size
    case .missingSplitFile: .split
    case .missingAlternate: .alternate
    }
  }

  fileprivate var text: String {
    switch self {
    case .stripped: "is stripped: only its exported functions have names"
    case .incomplete: "has a damaged symbol table: some functions have no names"
    case .noNames(.noSymbols): "has no symbols: its functions have no names"
    case .noNames(.notELF): "is no 64-bit ELF file: it has no names"
    case .noNames(.unreadable): "cannot be read: its functions have no names"
    case .noNames(.damaged): "is a damaged ELF file: its functions have no names"
    case .noNames(.tooLarge): "has too many symbols: its functions have no names"
    case .refusedDebugFile(.otherBuild(let path)):
      "has a debug file that belongs to another build and is not used: \(path.escaped)"
    case .refusedDebugFile(.unreadable(let path)): "has a debug file that cannot be read: \(path.escaped)"
    case .noLines(let failure): failure.text
    case .damagedLines: "has damaged debug information: some lines are missing"
    case .outOfTime: "has so much debug information that lines were skipped for lack of time"
    case .tooLarge: "has more debug information than is read: some lines were skipped"
    case .missingSplitFile(let name):
      "has debug information in .dwo files (a .dwp is not read): \(name.escaped) is missing, no inlined calls shown"
    case .missingAlternate(let name):
      "shares debug information with other modules in \(name.escaped), which is missing: no inlined calls shown"
    }
  }
}

extension DebugFailure {
  fileprivate var text: String {
    switch self {
    case .absent: "has no debug information: no lines are shown"
    case .unreadable: "has debug information that cannot be read: no lines are shown"
    case .damaged: "has damaged debug information: no lines are shown"
    case .tooLarge: "has compressed debug information that is too large to be unpacked: no lines are shown"
    case .unknownCompression: "has debug information compressed in an unknown way: no lines are shown"
    }
  }
}
