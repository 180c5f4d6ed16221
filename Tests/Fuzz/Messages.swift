// What our own processes say to each other: a helper has read the target's bytes and may have gone wrong.

import Analysis
import Glibc
import Linux
import StallCore
import Stacks

extension FuzzedParser {
  static var messages: [FuzzedParser] {
    [
      FuzzedParser(
        "capture-request", seeds: requests
      ) {
        guard var request = CaptureRequest(decoding: $0) else { return }
        expect(CaptureRequest(decoding: request.encoded()) == request, "a request changes on its way")
        if let members = request.members {
          request.members = members
          expect(request.members == members, "members of a group change on their way")
        }
        guard let blocked = request.blocked else { return }
        request.blocked = blocked
        expect(request.blocked == blocked, "registers change on their way")
      },
      FuzzedParser("capture-reply", seeds: replies) {
        guard let reply = CaptureReply(decoding: $0) else { return }
        let again = CaptureReply(decoding: reply.encoded())?.encoded()
        expect(again == reply.encoded(), "a reply changes on its way")
      },
      FuzzedParser("executable-facts", seeds: facts) {
        guard let facts = ExecutableFacts(decoding: $0) else { return }
        expect(ExecutableFacts(decoding: facts.encoded) == facts, "facts change on their way")
      },
      FuzzedParser("mappings-message", seeds: mappings) {
        guard let regions = [MemoryRegion](decoding: $0) else { return }
        expect(regions.allSatisfy { $0.start < $0.end }, "a mapping without a byte")
      },
      FuzzedParser("analyst-wish", seeds: wishes) {
        guard let message = try? AnalystMessage(decoding: $0) else { return }
        let again = try? AnalystMessage(decoding: message.encoded)
        expect(again?.encoded == message.encoded, "a message changes on its way")
      },
      FuzzedParser("analyst-message", seeds: analyses) {
        guard let analysis = try? Analysis(decoding: $0) else { return }
        let again = try? Analysis(decoding: analysis.encoded)
        expect(again?.frames == analysis.frames, "an analysis changes on its way")
      },
    ]
  }

  private static var analyses: [[UInt8]] {
    let module = ModuleReference(path: "/usr/lib/lib one.so", buildID: "00ff", isDeleted: true)
    var frame = Frame(programCounter: .max, trust: .framePointer)
    (frame.module, frame.moduleOffset, frame.symbol) = (module, 16, "name")
    var analysis = Analysis(end: .root, frames: [frame, Frame(programCounter: 1, trust: .exact)])
    analysis.remarks = ["a remark"]
    return [analysis.encoded, Analysis(end: .loop, frames: []).encoded]
  }

  private static var wishes: [[UInt8]] {
    let map = MemoryMap(parsing: Array("1000-2000 r-xp 0 08:01 1 /a\n".utf8))
    let messages: [AnalystMessage] =
      map.regions.map { .wantsMapping($0) } + [
        .hello(missingLimits: 1), .wantsPerfMap, .wantsDebugFile(path: Array("/usr/lib/debug/a".utf8)),
        .answer(ids: [1, 2], isFinal: true, content: analyses[0]),
        .answers([(ids: [1], content: analyses[0]), (ids: [2, 3], content: analyses[1])]),
      ]
    return messages.map(\.encoded)
  }

  private static var facts: [[UInt8]] {
    guard let own = ExecutableFacts(process: getpid()) else { return [] }
    return [own.encoded]
  }

  private static var mappings: [[UInt8]] {
    let map = MemoryMap(
      parsing: Array("1000-2000 r-xp 0 08:01 1 /a\n2000-3000 r--p 1000 08:01 1 /b c\n".utf8))
    return [map.regions.encoded, [MemoryRegion]().encoded]
  }

  private static var requests: [[UInt8]] {
    var registers = Registers()
    for number in 0..<Registers.count { registers[number] = .max }
    var ofRegisters = CaptureRequest(kind: .thread, processID: 7, threadID: 8)
    ofRegisters.blocked = BlockedRegisters(
      threadID: 8, registers: registers, timesScheduled: 1, runNanoseconds: .max)
    var ofGroup = CaptureRequest(kind: .threads, processID: 7, threadID: 7)
    ofGroup.members = [
      GroupMember(threadID: 8, blocked: ofRegisters.blocked, nextStack: .max),
      GroupMember(threadID: 9, isParked: true),
    ]
    return [CaptureRequest(kind: .maps, processID: 7, threadID: 8), ofRegisters, ofGroup].map { $0.encoded() }
  }

  private static var replies: [[UInt8]] {
    var memory = CaptureReply(id: 3)
    memory.bytes = Array(0..<32)
    memory.registers[7] = 1
    return [CaptureReply(id: 1, failure: .traced(by: 7)), CaptureReply(id: 2, failure: .gone), memory].map {
      $0.encoded()
    }
  }
}
