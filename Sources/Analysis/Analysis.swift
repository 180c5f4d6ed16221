// What an analyst found out about one stack.

package import Linux
package import StallCore

package struct Analysis: Sendable {
  package var end: WalkEnd
  /// Innermost first.
  package var frames: [Frame]
  /// The outer frames rest on bytes that were copied after the thread went on.
  package var isCompleted = false
  /// Of a sample: the question whose stack has the same functions, and stands for this one. Then there are no frames.
  package var sameAs: UInt64?
  /// What came up about modules for the first time, for a person.
  package var remarks: [ByteString] = []

  package init(end: WalkEnd, frames: [Frame]) {
    self.end = end
    self.frames = frames
  }
}

extension Analysis {
  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.append(end.rawValue)
    writer.append(isCompleted)
    writer.append(optional: sameAs) { $0.append($1) }
    let modules = Array(Set(frames.compactMap(\.module)))
    writer.append(modules.count)
    for module in modules { writer.append(module) }
    writer.append(frames.count)
    let places = Dictionary(uniqueKeysWithValues: modules.enumerated().map { ($1, $0) })
    for frame in frames { writer.append(frame, module: frame.module.flatMap { places[$0] }) }
    writer.append(remarks.count)
    for remark in remarks { writer.append(remark.bytes) }
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(MessageReader.Malformed) {
    var reader = MessageReader(bytes)
    end = try reader.rawValue()
    isCompleted = try reader.flag()
    sameAs = try reader.optionalWord()
    let modules = try reader.list { (reader) throws(MessageReader.Malformed) in
      try ModuleReference(decoding: &reader)
    }
    frames = try reader.list { (reader) throws(MessageReader.Malformed) in
      try Frame(decoding: &reader, modules)
    }
    remarks = try reader.list { (reader) throws(MessageReader.Malformed) in ByteString(try reader.string()) }
    guard reader.isAtEnd else { throw MessageReader.Malformed() }
  }
}

extension MessageWriter {
  fileprivate mutating func append(_ word: String) { append(Array(word.utf8)) }

  fileprivate mutating func append(_ module: ModuleReference) {
    append(module.path.bytes)
    append(optional: module.buildID) { $0.append($1) }
    append(module.isDeleted)
  }

  fileprivate mutating func append(_ frame: Frame, module: Int?) {
    append(frame.programCounter)
    append(optional: frame.stackPointer) { $0.append($1) }
    append(frame.trust.rawValue)
    append(frame.isInlined)
    append(frame.isSignalFrame)
    append(frame.isGenerated)
    append(optional: module) { $0.append($1) }
    append(optional: frame.moduleOffset) { $0.append($1) }
    append(optional: frame.symbolOffset) { $0.append($1) }
    append(optional: frame.symbol) { $0.append($1.bytes) }
    append(optional: frame.rawSymbol) { $0.append($1.bytes) }
    append(optional: frame.file) { $0.append($1.bytes) }
    append(optional: frame.line) { $0.append($1) }
    append(frame.aliases.count)
    for alias in frame.aliases { append(alias.bytes) }
  }
}

extension MessageReader {
  fileprivate mutating func rawValue<Value: RawRepresentable<String>>() throws(Malformed) -> Value {
    guard let value = Value(rawValue: String(decoding: try string(), as: UTF8.self)) else {
      throw Malformed()
    }
    return value
  }

  fileprivate mutating func optionalWord() throws(Malformed) -> UInt64? {
    try optional { (reader) throws(Malformed) in try reader.word() }
  }

  fileprivate mutating func optionalString() throws(Malformed) -> ByteString? {
    try optional { (reader) throws(Malformed) in ByteString(try reader.string()) }
  }
}

extension ModuleReference {
  fileprivate init(decoding reader: inout MessageReader) throws(MessageReader.Malformed) {
    let path = ByteString(try reader.string())
    let buildID = try reader.optionalString().map { String(decoding: $0.bytes, as: UTF8.self) }
    self.init(path: path, buildID: buildID, isDeleted: try reader.flag())
  }
}

extension Frame {
  fileprivate init(decoding reader: inout MessageReader, _ modules: [ModuleReference])
    throws(MessageReader.Malformed)
  {
    let programCounter = try reader.word()
    let stackPointer = try reader.optionalWord()
    self.init(programCounter: programCounter, trust: try reader.rawValue())
    self.stackPointer = stackPointer
    isInlined = try reader.flag()
    isSignalFrame = try reader.flag()
    isGenerated = try reader.flag()
    module = try reader.optional { (reader) throws(MessageReader.Malformed) in
      guard !modules.isEmpty else { throw MessageReader.Malformed() }
      return modules[try reader.integer(in: 0...modules.count - 1)]
    }
    moduleOffset = try reader.optionalWord()
    symbolOffset = try reader.optionalWord()
    symbol = try reader.optionalString()
    rawSymbol = try reader.optionalString()
    file = try reader.optionalString()
    line = try reader.optional { (reader) throws(MessageReader.Malformed) in
      try reader.integer(in: 0...Int(Int32.max))
    }
    aliases = try reader.list { (reader) throws(MessageReader.Malformed) in ByteString(try reader.string()) }
  }
}
