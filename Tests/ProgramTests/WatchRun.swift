// One run of the program in a test: its records, its text, its end.

import FoundationEssentials
import Linux
import TestSupport

/// What one run said, line by line as it says it.
struct WatchRun: ~Copyable {
  private var process: TargetProcess
  private(set) var records: [[String: JSONValue]] = []
  /// In `run`, the child may write into the same pipe.
  private var otherLines: [String] = []

  /// `stallwatch ARGUMENTS`; standard output is read here.
  init(_ arguments: [String]) throws {
    process = try TargetProcess(path: builtProduct("stallwatch"), arguments: arguments)
  }

  /// As a shell starts it, with whatever that does to it before.
  init(shell command: String) throws {
    process = try TargetProcess(path: "/bin/sh", arguments: ["-c", command])
  }

  var processID: Int32 { process.processID }

  mutating func readLine() throws -> String { try process.readLine() }

  /// Reads records until one of this type (and state) comes, and returns it.
  mutating func next(_ type: String, state: String? = nil) throws -> [String: JSONValue] {
    while true {
      let line = try readLine()
      guard line.hasPrefix("{") else {
        otherLines.append(line)
        continue
      }
      let record = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8)).object
      records.append(record)
      if record["type"]?.string == type, state == nil || record["state"]?.string == state { return record }
    }
  }

  /// Also if it came between the records that were read.
  mutating func wait(forLine text: String) throws {
    while !otherLines.contains(text) { otherLines.append(try readLine()) }
  }

  mutating func next(_ type: String, kind: String) throws -> [String: JSONValue] {
    while true {
      let record = try next(type)
      if record["kind"]?.string == kind { return record }
    }
  }

  /// Reads all records to the end.
  mutating func readToEnd() throws {
    while let line = try? process.readLine() {
      records.append(try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8)).object)
    }
  }

  func signal(_ number: Int32) { process.signal(number) }

  mutating func end() throws -> ExitStatus { try process.waitForExit() }

  mutating func isAlive() -> Bool { process.isAlive() }

  func records(of type: String) -> [[String: JSONValue]] { records.filter { $0["type"]?.string == type } }
}

/// A run that ends by itself: everything it wrote, and its status. Shell redirections are part of the command.
func shell(_ command: String) throws -> (output: String, status: ExitStatus) {
  let program = builtProduct("stallwatch")
  var process = try TargetProcess(
    path: "/bin/sh", arguments: ["-c", "stallwatch() { \(program) \"$@\"; }; W=\(program); \(command)"])
  var lines: [String] = []
  while let line = try? process.readLine() { lines.append(line) }
  return (lines.joined(separator: "\n"), try process.waitForExit())
}

extension [String: JSONValue] {
  func number(_ key: String) -> Double? { if case .number(let value) = self[key] { value } else { nil } }

  var symbolsOfAllStacks: [String] {
    (self["stacks"]?.array ?? []).flatMap { $0.object["frames"]?.array ?? [] }
      .compactMap { $0.object["symbol"]?.string }
  }

  /// Symbols of the first stack, innermost first.
  var symbols: [String] {
    (self["stacks"]?.array.first?.object["frames"]?.array ?? []).compactMap { $0.object["symbol"]?.string }
  }
}
