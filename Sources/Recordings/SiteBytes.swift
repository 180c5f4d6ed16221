// A wait in a recording, and what its stack has said of it.

package import StallCore

extension RecordingBytes {
  package mutating func appendLearned(_ meaning: WaitMeaning, of site: Site, _ thread: Int) {
    var body = RecordingBytes()
    body.append(count: thread)
    body.append(meaning.code)
    body.append(site)
    append(.learned, longBody: body)
  }

  private mutating func append(_ site: Site) {
    append(ActivityCode.of(site.kind))
    append(site.hasTimeout ? 1 : 0)
    append(number: site.stackPointer)
    append(number: site.programCounter)
    append(site.descriptors)
    append(site.multiplexer)
    // Its lowest bits are always zero.
    append(number: site.futex.map { $0 | 1 } ?? 0)
  }

  private mutating func append(_ multiplexer: Multiplexer) {
    switch multiplexer {
    case .epoll(let descriptor): append(0, signed: Int64(descriptor))
    case .descriptorSet: append(1)
    case .unreadSet: append(2)
    case .ring(let descriptor, let isIndex): append(isIndex ? 4 : 3, signed: Int64(descriptor))
    case .descriptor(let descriptor): append(5, signed: Int64(descriptor))
    case .queue(let call, let identifier):
      append(6, signed: Int64(call))
      append(number: identifier)
    case .children: append(7)
    case .place: append(8)
    case .anyOf: append(9)
    }
  }

  private mutating func append(_ code: UInt8, signed number: Int64) {
    append(code)
    append(signed: number)
  }
}

extension RecordingInput {
  mutating func meaning() throws(RecordingProblem) -> WaitMeaning {
    guard let meaning = WaitMeaning(code: try byte()) else { throw damage }
    return meaning
  }

  mutating func site() throws(RecordingProblem) -> Site {
    guard case .blockedByKind(let kind?) = ActivityCode.blockedByKind(try byte()) else { throw damage }
    var site = Site(kind)
    site.hasTimeout = try flag()
    (site.stackPointer, site.programCounter) = (try number(), try number())
    site.descriptors = try descriptors()
    site.multiplexer = try multiplexer(of: site)
    // Recordings of before have none.
    let futex = isAtEnd ? 0 : try number()
    site.futex = futex == 0 ? nil : futex & ~7
    return site
  }

  private mutating func multiplexer(of site: Site) throws(RecordingProblem) -> Multiplexer {
    switch try byte() {
    case 0: return .epoll(descriptor: try identifier())
    case 1: return .descriptorSet
    case 2: return .unreadSet(stackPointer: site.stackPointer, programCounter: site.programCounter)
    case 3: return .ring(descriptor: try identifier(), isIndex: false)
    case 4: return .ring(descriptor: try identifier(), isIndex: true)
    case 5: return .descriptor(try identifier())
    case 6: return .queue(call: Int(try signed()), identifier: try number())
    case 7: return .children
    case 8:
      return .place(
        kind: site.kind, stackPointer: site.stackPointer, programCounter: site.programCounter)
    case 9: return .anyOf(site.kind)
    default: throw damage
    }
  }
}

extension WaitMeaning {
  private static let numbered: [WaitMeaning] = [.unknown, .loop, .work]

  fileprivate var code: UInt8 { UInt8(Self.numbered.firstIndex(of: self) ?? 0) }

  fileprivate init?(code: UInt8) {
    guard code < Self.numbered.count else { return nil }
    self = Self.numbered[Int(code)]
  }
}
