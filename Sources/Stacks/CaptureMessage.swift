// What the watch and its helper process say to each other: 64-bit little-endian words, then bytes.

internal import Linux
internal import StallCore

/// One question. `count` is the most bytes wanted: of the stack, or at `address`. `bytes` is what does not fit into
/// words: a path, regions, registers. `patience` is how long the answer is waited for, in nanoseconds. What whoever asks
/// knows of the mappings stands in `address` (`knownMaps`).
package struct CaptureRequest: Equatable {
  package enum Kind: UInt64 {
    case thread, memory, maps, commandLine, mappedFile, debugFile, perfMap, copyOfModule, executable,
      mainQueue, raiseWakeUp, wakeUp, kernelStack, threads
  }

  var id: UInt64 = 0
  var kind: Kind
  var processID: Int32
  var threadID: Int32
  var rules = CaptureRules()
  var address: UInt64 = 0
  var count = 0
  var patience: Int64 = 0
  /// `count` bytes are all there is of the stack: none of it lies behind them. Not sent; of members of a group.
  var isWhole = false
  var bytes: [UInt8] = []

  static let headerSize = 8 * 8
  static let mostBytes = headerSize + 65_536
  static let mostMemoryBytes = 8192

  package func encoded() -> [UInt8] {
    let flags: UInt64 = (rules.isParked ? 1 : 0) | (rules.mayStop ? 2 : 0) | (rules.isDump ? 4 : 0)
    return Stacks.bytes(of: [
      id, kind.rawValue, UInt64(bitPattern: Int64(processID)), UInt64(bitPattern: Int64(threadID)), flags,
      address, UInt64(bitPattern: Int64(count)), UInt64(bitPattern: patience),
    ]) + bytes
  }

  package init(kind: Kind, processID: Int32, threadID: Int32) {
    self.kind = kind
    self.processID = processID
    self.threadID = threadID
  }

  package init?(decoding message: [UInt8]) {
    guard message.count >= CaptureRequest.headerSize, message.count <= CaptureRequest.mostBytes,
      let kind = Kind(rawValue: word(1, of: message))
    else {
      return nil
    }
    self.init(
      kind: kind, processID: Int32(truncatingIfNeeded: word(2, of: message)),
      threadID: Int32(truncatingIfNeeded: word(3, of: message)))
    id = word(0, of: message)
    let flags = word(4, of: message)
    rules = CaptureRules(isParked: flags & 1 != 0, mayStop: flags & 2 != 0, isDump: flags & 4 != 0)
    address = word(5, of: message)
    count = Int(truncatingIfNeeded: word(6, of: message))
    patience = Int64(bitPattern: word(7, of: message))
    bytes = Array(message[CaptureRequest.headerSize...])
  }
}

/// One answer. Bulk comes beside it as a sealed file: stack bytes, the text of `maps`; a few bytes of memory follow
/// the words.
package struct CaptureReply {
  /// The helper says with it that it has started.
  static let helloID: UInt64 = 0
  private static let wordsBeforeRegisters = 14
  static let headerSize = (wordsBeforeRegisters + Registers.count) * 8
  static let mostBytes = headerSize + CaptureRequest.mostMemoryBytes

  var id: UInt64
  var failure: CaptureFailure?
  var way = CaptureWay.ptrace
  package var registers = Registers()
  var stack = StackLayout()
  var stoppedNanoseconds: Int64 = 0
  var takenAtNanoseconds: Int64 = 0
  /// The helper ends after this answer.
  var isLast = false
  /// The list of mappings is still what the request names as known.
  var areMapsAsKnown = false
  package var bytes: [UInt8] = []

  package init(id: UInt64, failure: CaptureFailure? = nil) {
    self.id = id
    self.failure = failure
  }

  package func encoded() -> [UInt8] {
    let (code, detail) = failure.map { $0.wireCode } ?? (0, 0)
    var words = [
      id, code, UInt64(bitPattern: detail), UInt64(CaptureWay.allCases.firstIndex(of: way) ?? 0),
      stack.topAddress, UInt64(bitPattern: stoppedNanoseconds), UInt64(bitPattern: takenAtNanoseconds),
      UInt64(bytes.count),
    ]
    let flags: UInt64 =
      (isLast ? 1 : 0) | (stack.isRestLater ? 2 : 0) | (stack.isInterruptedLater ? 4 : 0)
      | (areMapsAsKnown ? 8 : 0)
    words += [UInt64(registers.known), flags]
    words += [UInt64(stack.topCount), stack.interruptedAddress]
    words += [UInt64(stack.interruptedCount), UInt64(stack.restCount)]
    for number in 0..<Registers.count { words.append(registers[number] ?? 0) }
    return Stacks.bytes(of: words) + bytes
  }

  /// Nil for anything that a sound helper would not send.
  package init?(decoding message: [UInt8]) {
    let ways = CaptureWay.allCases
    guard message.count >= CaptureReply.headerSize, message.count <= CaptureReply.mostBytes,
      let wayIndex = Int(exactly: word(3, of: message)), ways.indices.contains(wayIndex),
      word(7, of: message) == UInt64(message.count - CaptureReply.headerSize)
    else { return nil }
    self.init(id: word(0, of: message))
    if word(1, of: message) != 0 {
      failure = CaptureFailure(
        wireCode: word(1, of: message), detail: Int64(bitPattern: word(2, of: message)))
    }
    way = ways[wayIndex]
    guard let stack = StackLayout(decoding: message) else { return nil }
    self.stack = stack
    stoppedNanoseconds = Int64(bitPattern: word(5, of: message))
    takenAtNanoseconds = Int64(bitPattern: word(6, of: message))
    let known = word(8, of: message)
    isLast = word(9, of: message) & 1 != 0
    areMapsAsKnown = word(9, of: message) & 8 != 0
    for number in 0..<Registers.count where known & (1 << UInt64(number)) != 0 {
      registers[number] = word(CaptureReply.wordsBeforeRegisters + number, of: message)
    }
    bytes = Array(message[CaptureReply.headerSize...])
  }
}

extension CaptureReply {
  /// What the thread did in the kernel, in the kernel's words.
  var kernelStack: [UInt8] { way == .perf ? [] : bytes }

  /// The same of a sample; set after `way`.
  var kernelAddresses: [UInt64] {
    get { way == .perf ? (0..<bytes.count / 8).map { word($0, of: bytes) } : [] }
    set { if way == .perf { bytes = Stacks.bytes(of: newValue) } }
  }
}

extension StackLayout {
  /// Nil for more bytes than a copy can have.
  fileprivate init?(decoding message: [UInt8]) {
    let most = UInt64(CopyBuffer.capacity)
    let counts = [10, 12, 13].map { word($0, of: message) }
    guard counts.allSatisfy({ $0 <= most }) else { return nil }
    topAddress = word(4, of: message)
    topCount = Int(counts[0])
    interruptedAddress = word(11, of: message)
    interruptedCount = Int(counts[1])
    restCount = Int(counts[2])
    isRestLater = word(9, of: message) & 2 != 0
    isInterruptedLater = word(9, of: message) & 4 != 0
  }
}

extension CaptureFailure {
  /// Those without a detail; their code is their place here plus one.
  private static let plain: [CaptureFailure] = [
    .gone, .timedOut, .moved, .running, .parked, .uninterruptible, .stoppedBySignal, .frozen, .dumpingCore,
    .kernelThread, .thirtyTwoBit, .stopsForbidden, .helperDied, .malformedReply, .waitingForPage, .dropped,
    .stacksOff,
  ]

  fileprivate var wireCode: (code: UInt64, detail: Int64) {
    switch self {
    case .refused(let error): (100, Int64(error.code))
    case .inFragileCall(let number): (101, Int64(number))
    case .traced(let tracer): (102, Int64(tracer))
    case .helperUnavailable(let error): (103, Int64(error.code))
    case .runningUnsampled(let error): (104, Int64(error.code))
    default: (UInt64((CaptureFailure.plain.firstIndex(of: self) ?? 0) + 1), 0)
    }
  }

  fileprivate init(wireCode: UInt64, detail: Int64) {
    let number = Int32(truncatingIfNeeded: detail)
    switch wireCode {
    case 100: self = .refused(Errno(number))
    case 101: self = .inFragileCall(number: Int(number))
    case 102: self = .traced(by: number)
    case 103: self = .helperUnavailable(Errno(number))
    case 104: self = .runningUnsampled(Errno(number))
    case 1...UInt64(CaptureFailure.plain.count): self = CaptureFailure.plain[Int(wireCode) - 1]
    default: self = .malformedReply
    }
  }
}

private func bytes(of words: [UInt64]) -> [UInt8] {
  var writer = MessageWriter()
  for word in words { writer.append(word) }
  return writer.bytes
}

private func word(_ index: Int, of message: [UInt8]) -> UInt64 {
  message.littleEndian(at: index * 8, count: 8)
}
