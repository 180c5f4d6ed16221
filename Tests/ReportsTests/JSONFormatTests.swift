// What programs see.

import Foundation
import StallCore
import TestSupport
import Testing

@testable import Reports

/// From a host with a name of the worst kind, so that every type of record has every common field.
private let everyRecord = (ordinaryWatch + quietWatch + dumpedThreads + hostileWatch).map { record in
  Record(
    origin: hostileWatch[0].origin, sequence: record.sequence, moment: record.moment, body: record.body)
}

private let docs = testFolder.deletingLastPathComponent().deletingLastPathComponent().appending(path: "Docs")

private func schema() throws -> JSONValue {
  try JSONDecoder().decode(
    JSONValue.self, from: Data(contentsOf: docs.appending(path: "stallwatch-1.schema.json")))
}

private func decoded(_ record: Record) throws -> JSONValue {
  try JSONDecoder().decode(JSONValue.self, from: Data(JSONFormat().render(record)))
}

@Suite struct JSONFormatTests {
  @Test func looksAsExpected() throws {
    try expect((ordinaryWatch + quietWatch).flatMap { JSONFormat().render($0) }, isFile: "watch.jsonl")
    try expect(dumpedThreads.flatMap { JSONFormat().render($0) }, isFile: "dump.jsonl")
    try expect(hostileWatch.flatMap { JSONFormat().render($0) }, isFile: "hostile.jsonl")
  }

  @Test func aRecordIsOneLine() {
    for record in everyRecord {
      let line = JSONFormat().render(record)
      #expect(line.count { $0 == UInt8(ascii: "\n") } == 1)
      #expect(line.last == UInt8(ascii: "\n"))
    }
  }

  @Test("PROC-07, OUT-04: hostile bytes are escaped in JSON, and exact beside it")
  func hostileBytesNeverComeThroughAndAreExact() throws {
    for record in hostileWatch {
      expectHarmless(String(decoding: JSONFormat().render(record), as: UTF8.self))
    }
    let attach = try decoded(hostileWatch[0]).object
    let name = try #require(attach["thread"]?.object["name_bytes"]?.string)
    #expect(Data(base64Encoded: name) == Data(hostileName.bytes))
    #expect(attach["command_bytes"]?.array.first == .null)
  }

  @Test func everyRecordIsAsTheSchemaSays() throws {
    let schema = try schema()
    var checker = SchemaChecker(root: schema)
    for record in everyRecord {
      #expect(try checker.problems(of: decoded(record), in: schema, at: "record") == [])
    }
  }

  /// Also guards against a field that is removed from the output but not from the schema.
  @Test func everyFieldOfTheSchemaOccurs() throws {
    let schema = try schema()
    var checker = SchemaChecker(root: schema)
    for record in everyRecord { _ = try checker.problems(of: decoded(record), in: schema, at: "record") }
    let occurring = Set(checker.seen.map { $0.replacing("#/$defs/", with: "") })
    for (name, definition) in schema.object["$defs"]?.object ?? [:] {
      for field in definition.object["properties"]?.object.keys.sorted() ?? [] {
        #expect(occurring.contains("\(name).\(field)"), "\(name).\(field)")
      }
    }
  }

  @Test func everyFieldAndWordIsExplained() throws {
    let text = try String(contentsOf: docs.appending(path: "ReportFormat.md"), encoding: .utf8)
    for (name, definition) in try schema().object["$defs"]?.object ?? [:] {
      for (field, content) in definition.object["properties"]?.object ?? [:] {
        #expect(text.contains("`\(field)`"), "\(name).\(field)")
        for word in content.object["enum"]?.array ?? [] {
          #expect(text.contains("`\(word.string ?? "")`"), "\(name).\(field): \(word)")
        }
      }
      for word in definition.object["enum"]?.array ?? [] { #expect(text.contains("`\(word.string ?? "")`")) }
    }
  }

  @Test func wordsOfTheSchemaAreThoseOfTheProgram() throws {
    let definitions = try schema().object["$defs"]?.object ?? [:]
    func words(_ schema: JSONValue?) -> Set<String> {
      Set(schema?.object["enum"]?.array.compactMap(\.string) ?? [])
    }
    #expect(words(definitions["cause_kind"]) == Set(CauseKind.allCases.map(\.rawValue)))
    #expect(words(definitions["capture_way"]) == Set(CaptureWay.allCases.map(\.rawValue)))
    let notice = definitions["notice"]?.object["properties"]?.object["kind"]
    #expect(words(notice) == Set(NoticeKind.allCases.map(\.rawValue)))
  }

  @Test func percentilesAreByNearestRank() throws {
    func summary(_ stalls: [Int]) throws -> [String: JSONValue] {
      let record = SummaryRecord(
        watched: .seconds(1), stalls: totals(stalls), unverified: 0, busyThreads: 0,
        nearMisses: [], parkedShare: nil, places: [],
        ownCost: OwnCost(cpuTime: .zero, watched: .zero, looks: 0, lateLooks: 0, targetStopped: .zero))
      return try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(record)).object
    }
    #expect(try summary([])["longest_ms"] == nil)
    #expect(try summary([700])["p50_ms"] == nil)
    #expect(try summary([900, 700])["p50_ms"] == .number(700))
    #expect(try summary(Array((1...100).reversed()))["p95_ms"] == .number(95))
    #expect(try summary([900, 700, 800])["total_stalled_ms"] == .number(2400))
  }

  @Test func theChecksCanFail() throws {
    let schema = try schema()
    var checker = SchemaChecker(root: schema)
    var fields = try decoded(ordinaryWatch[2]).object
    fields["extra"] = .null
    fields["pid"] = nil
    fields["state"] = .string("paused")
    fields["duration_ms"] = .number(-1)
    fields["time"] = .string("yesterday")
    let problems = checker.problems(of: .object(fields), in: schema, at: "record")
    #expect(problems.count == 5, "\(problems)")
  }
}
