// From the words of a command line to an `Invocation`, by way of the option table.

package import StallCore

extension Invocation {
  /// What the words after the program's name mean.
  package init(_ words: [ByteString]) throws(RefusedCommandLine) {
    var reader = CommandLineReader(words)
    do {
      try reader.readWords()
      self = try reader.invocation()
    } catch {
      throw RefusedCommandLine(reason: error, command: reader.command)
    }
  }
}

/// Reads words from left to right. Options are applied when all are read, because the command, which decides what is
/// allowed, may come after them.
private struct CommandLineReader {
  private var rest: ArraySlice<ByteString>
  private var given: [GivenOption] = []
  private var operands: [ByteString] = []
  private var namedCommand: Command?
  /// The words after `--`.
  private var program: [ByteString]?

  init(_ words: [ByteString]) { rest = words[...] }

  /// `stallwatch -- COMMAND` runs.
  var command: Command { namedCommand ?? (program != nil && operands.isEmpty ? .run : .watch) }

  mutating func readWords() throws(UsageError) {
    while let word = rest.popFirst() {
      let text = String(decoding: word.bytes, as: UTF8.self)
      if text == "--" {
        program = Array(rest)
        return
      } else if text.hasPrefix("--") {
        try readLong(word)
      } else if text.hasPrefix("-"), let second = text.dropFirst().first, !isDigit(second) {
        try readShort(word)
      } else if namedCommand == nil, operands.isEmpty, let command = Command(rawValue: text) {
        namedCommand = command
      } else if namedCommand == .run {
        program = [word] + rest
        return
      } else {
        operands.append(word)
      }
    }
  }

  private mutating func readLong(_ word: ByteString) throws(UsageError) {
    let equals = word.bytes.firstIndex(of: UInt8(ascii: "="))
    let spelling = String(decoding: word.bytes[..<(equals ?? word.bytes.count)], as: UTF8.self)
    let attached = equals.map { ByteString(word.bytes[($0 + 1)...]) }
    guard let option = OptionDefinition.named(long: String(spelling.dropFirst(2))) else {
      throw .unknownOption(spelling, nearest: OptionDefinition.nearest(to: spelling))
    }
    try take(option, spelling, attached: attached)
  }

  /// `-v`, `-qv`, `-t500ms`, `-qt 500ms`.
  private mutating func readShort(_ word: ByteString) throws(UsageError) {
    let text = String(decoding: word.bytes, as: UTF8.self)
    let longName = text.dropFirst().prefix { $0 != "=" }
    if longName.count > 1, OptionDefinition.named(long: String(longName)) != nil {
      throw .unknownOption(text, nearest: "--\(longName)")
    }
    var letters = word.bytes[1...]
    while let letter = letters.popFirst() {
      let spelling = "-\(Character(Unicode.Scalar(letter)))"
      guard let option = OptionDefinition.named(short: Character(Unicode.Scalar(letter))) else {
        let nearest = OptionDefinition.nearest(to: text)
        let isOneOfMany = letter < 0x80 && word.bytes.count > 2
        if isOneOfMany { throw .unknownOption(spelling, word: text, nearest: nearest) }
        throw .unknownOption(text, nearest: nearest)
      }
      if case .value = option.effect {
        try take(option, spelling, attached: letters.isEmpty ? nil : ByteString(letters))
        return
      }
      try take(option, spelling, attached: nil)
    }
  }

  private mutating func take(
    _ option: OptionDefinition, _ spelling: String, attached: ByteString?
  ) throws(UsageError) {
    guard case .value(let name, _, _) = option.effect else {
      if attached != nil { throw .unwantedValue(option: spelling) }
      given.append(GivenOption(option: option, spelling: spelling, value: ""))
      return
    }
    if attached == nil, let next = rest.first, looksLikeOption(next) {
      throw .missingValue(option: spelling, name: name, next: String(decoding: next.bytes, as: UTF8.self))
    }
    guard let value = attached ?? rest.popFirst() else {
      throw .missingValue(option: spelling, name: name, next: nil)
    }
    guard let text = String(validating: value.bytes, as: UTF8.self) else { throw .notText(option: spelling) }
    given.append(GivenOption(option: option, spelling: spelling, value: text))
  }

  /// `--pid -1` and `-o -` are values; `-o --json` and `-t -v` are forgotten ones.
  private func looksLikeOption(_ word: ByteString) -> Bool {
    guard word.bytes.count > 1, word.bytes[0] == UInt8(ascii: "-") else { return false }
    return word.bytes[1] == UInt8(ascii: "-")
      || OptionDefinition.named(short: Character(Unicode.Scalar(word.bytes[1]))) != nil
  }

  func invocation() throws(UsageError) -> Invocation {
    for item in given {
      switch item.option.effect {
      case .help: return .help(namedCommand)
      case .version: return .version
      case .flag, .value: continue
      }
    }
    var options = Options()
    options.command = command
    for item in given { try item.apply(to: &options) }
    if let file = options.generated { return .generate(file) }
    try setTarget(&options)
    if let interval = options.interval, interval * 3 > options.threshold {
      throw .intervalTooLong(most: .milliseconds(options.threshold.nanoseconds / 3_000_000))
    }
    try checkHeartbeat(options)
    if command == .run, options.outputKind == .json, options.output == .automatic {
      throw .jsonIntoChildOutput
    }
    return .perform(options)
  }

  private func checkHeartbeat(_ options: Options) throws(UsageError) {
    if options.cpuOnly, options.heartbeat != nil { throw .touchesWithoutLooking(option: "--heartbeat") }
    if options.cpuOnly, options.ping { throw .touchesWithoutLooking(option: "--ping") }
    guard options.heartbeat != nil else { return }
    switch options.thread {
    case .all, .named: throw .heartbeatOfManyThreads
    case nil, .auto, .main, .id: break
    }
  }

  private func setTarget(_ options: inout Options) throws(UsageError) {
    if command == .run {
      if case .id = options.thread { throw .threadOfNewProgram }
      guard let program, program.first?.bytes.isEmpty == false else { throw .noProgram }
      options.target = .program(program)
      return
    }
    let words = operands + (program ?? [])
    if command == .replay {
      guard let file = words.first else { throw .noRecording }
      if words.count > 1 { throw .secondRecording(words[1]) }
      options.target = .recording(file)
      return
    }
    for word in words {
      let text = String(decoding: word.bytes, as: UTF8.self)
      switch options.target {
      case .process, .named: throw .secondProcess(text)
      case .program, .recording: break
      }
      do {
        options.target = .process(try readProcessID(text))
      } catch .notAProcessID where command == .watch {
        throw .programInsteadOfProcess(words)
      } catch {
        throw .value(option: "--pid", value: text, error)
      }
    }
    switch options.target {
    case .process where options.wait: throw .waitWithoutName
    case .named where options.wait && options.record != nil: throw .recordWhileWaiting
    case .process, .named: return
    case .program where command == .doctor: return
    case .program, .recording: throw .noProcess(command)
    }
  }
}

/// An option as it stood on the command line.
private struct GivenOption {
  let option: OptionDefinition
  let spelling: String
  let value: String

  func apply(to options: inout Options) throws(UsageError) {
    guard option.commands.contains(options.command) else {
      throw .optionOfOtherCommand(spelling, command: options.command, belongsTo: option.commands)
    }
    switch option.effect {
    case .flag(let set): set(&options)
    case .value(_, _, let apply):
      do { try apply(value, &options) } catch { throw .value(option: spelling, value: value, error) }
    case .help, .version: break
    }
  }
}
