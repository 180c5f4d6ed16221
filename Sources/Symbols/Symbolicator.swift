// Names for the frames of stacks: keeps the indexes of the modules it has met and the addresses it has named.

package import StallCore

/// Never fails: what has no name keeps its module and offset, and a remark says why.
package struct Symbolicator {
  private struct Name {
    var raw: ByteString
    var display: ByteString
    var start: UInt64
    var aliases: [ByteString]
  }

  private struct Module {
    var index: SymbolIndex?
    var names: [UInt64: Name?] = [:]
    var lastUse = 0
  }

  private struct Told: Hashable {
    var file: OpenedFile
    var subject: SymbolRemark.Kind.Subject
  }

  /// It has no more than what it exports.
  private static let vdso: ByteString = "[vdso]"
  private static let maximumNamesPerModule = 8192
  /// Each index keeps the file of its names open.
  private static let maximumModules = 256
  private static let maximumRemarked = 4096

  private let limitBytes: Int
  private var modules: [OpenedFile: Module] = [:]
  private var uses = 0
  private var remarked: Set<Told> = []
  private var remarks: [SymbolRemark] = []
  private let debugFiles: DebugFileSearch?
  private var lines: SourceLines

  /// `limitBytes` bounds all indexes together, `lineLimitBytes` what is kept for lines; a single larger one is kept
  /// alone. With `debugFiles`, modules without a full symbol table take their names from their separate debug file;
  /// without it `expand` finds nothing.
  package init(
    limitBytes: Int = 96 << 20, lineLimitBytes: Int = 48 << 20, debugFiles: DebugFileSearch? = nil
  ) {
    self.limitBytes = limitBytes
    self.debugFiles = debugFiles
    lines = SourceLines(limitBytes: lineLimitBytes)
  }

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
    guard let identity = OpenedFile(descriptor) else {
      remarks.append(SymbolRemark(module: frame.module, kind: .noNames(.unreadable)))
      return
    }
    load(identity, descriptor: descriptor, for: frame.module)
    guard let name = name(of: address, in: identity) else { return }
    frame.symbol = name.display
    frame.rawSymbol = name.raw == name.display ? nil : name.raw
    frame.symbolOffset = (frame.moduleOffset ?? address) &- name.start
    frame.aliases = name.aliases
  }

  private mutating func name(of address: UInt64, in identity: OpenedFile) -> Name? {
    if let known = modules[identity]?.names[address] { return known }
    let found = modules[identity]?.index?.match(address).map { match in
      let display = SymbolName(raw: match.rawName).display
      return Name(
        raw: match.rawName, display: display, start: match.start,
        aliases: Self.aliases(match.aliases, besides: display))
    }
    if modules[identity]?.names.count == Self.maximumNamesPerModule { modules[identity]?.names = [:] }
    modules[identity]?.names[address] = .some(found)
    return found
  }

  private mutating func load(_ identity: OpenedFile, descriptor: Int32, for module: ModuleReference?) {
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
    _ identity: OpenedFile, descriptor: Int32, for module: ModuleReference?
  ) -> SymbolIndex? {
    do throws(SymbolFailure) {
      let index = try SymbolIndex(descriptor: descriptor) {
        guard let debugFiles else { return nil }
        var found = debugFiles.find(forModule: descriptor, path: module?.path ?? ByteString([]))
        for refusal in found.refusals { remark(.refusedDebugFile(refusal), identity, module) }
        return found.file.take()
      }
      if index.isIncomplete {
        remark(.incomplete, identity, module)
      } else if index.coverage == .exported, module?.path != Self.vdso {
        remark(.stripped, identity, module)
      }
      return index
    } catch {
      remark(.noNames(error), identity, module)
      return nil
    }
  }

  private mutating func remark(
    _ kind: SymbolRemark.Kind, _ identity: OpenedFile, _ module: ModuleReference?
  ) {
    guard remarked.count < Self.maximumRemarked,
      remarked.insert(Told(file: identity, subject: kind.subject)).inserted
    else { return }
    remarks.append(SymbolRemark(module: module, kind: kind))
  }

  private mutating func makeRoom(for bytes: Int) {
    while byteCount + bytes > limitBytes,
      let oldest = modules.filter({ $0.value.index != nil }).min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      modules[oldest.key] = nil
    }
  }
}

extension Symbolicator {
  /// The other names of the place, as people read them.
  private static func aliases(_ raw: [ByteString], besides chosen: ByteString) -> [ByteString] {
    var seen: Set = [chosen]
    return raw.map { SymbolName(raw: $0).display }.filter { seen.insert($0).inserted }
  }

  /// Gives a named frame its source line and puts the calls that were inlined there before it, innermost first.
  ///
  /// `lookup` is the address that the frame was named by. What is not known by the deadline (a moment of
  /// CLOCK_MONOTONIC in nanoseconds) is left out; a later call may find it. Opening a module for the first time is not
  /// cut short: a debug file without a build-id is checksummed, and up to 256 MB are unpacked, about a second each.
  /// Debug files are mapped and libdw believes what is in them: only for a process that may end with a hostile file.
  package mutating func expand(
    _ frame: Frame, lookup: UInt64, descriptor: Int32, deadline: Int64
  ) -> [Frame] {
    guard let identity = OpenedFile(descriptor), let debugFiles else { return [frame] }
    var found: [SymbolRemark.Kind] = []
    let calls = lines.calls(
      at: lookup, in: identity, descriptor: descriptor, path: frame.module?.path ?? ByteString([]),
      search: debugFiles, deadline: deadline
    ) { found.append($0) }
    for kind in found { remark(kind, identity, frame.module) }
    guard let function = calls.last else { return [frame] }
    return calls.dropLast().map { $0.inlinedFrame(of: frame) } + [function.applied(to: frame)]
  }
}

extension SourceCall {
  private var names: (raw: ByteString, display: ByteString)? {
    function.map { ($0, SymbolName(raw: $0).display) }
  }

  fileprivate func inlinedFrame(of physical: Frame) -> Frame {
    var frame = Frame(programCounter: physical.programCounter, trust: physical.trust)
    frame.module = physical.module
    frame.moduleOffset = physical.moduleOffset
    frame.symbol = names?.display
    frame.rawSymbol = names.flatMap { $0.raw == $0.display ? nil : $0.raw }
    (frame.file, frame.line, frame.isInlined) = (file, line, true)
    return frame
  }

  /// The symbol table has the word on names; of several for one place, the one that the debug information uses unless
  /// that is an internal one (`__GI___libc_read` for `read`).
  fileprivate func applied(to physical: Frame) -> Frame {
    var frame = physical
    (frame.file, frame.line) = (file, line)
    guard let names else { return frame }
    if names.display.bytes.first != UInt8(ascii: "_"),
      let index = frame.aliases.firstIndex(of: names.display), let other = frame.symbol
    {
      frame.aliases[index] = other
      frame.symbol = nil
    }
    if frame.symbol == nil {
      frame.symbol = names.display
      frame.rawSymbol = names.raw == names.display ? nil : names.raw
    }
    return frame
  }
}
