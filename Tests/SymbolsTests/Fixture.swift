// Programs compiled for one test, in a directory of its own that goes away with it.

import Glibc
import Linux
import StallCore
import Symbols
import TestSupport

struct CommandFailed: Error {
  var command: String
  var status: ExitStatus
}

/// Runs a shell command and answers its output.
@discardableResult
func shell(_ command: String) throws -> String {
  var process = try TargetProcess(path: "/bin/sh", arguments: ["-c", command])
  var lines: [String] = []
  while let line = try? process.readLine() { lines.append(line) }
  let status = try process.waitForExit()
  guard status == .exited(0) else { throw CommandFailed(command: command, status: status) }
  return lines.joined(separator: "\n")
}

func isInstalled(_ tool: String) -> Bool {
  (try? shell("command -v \(tool)")) != nil
}

final class Fixture {
  let directory: String

  init() throws {
    var template = Array("/tmp/stallwatch-symbols-XXXXXX\0".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Errno(errno) }
    directory = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = try? shell("rm -rf '\(directory)'") }

  func path(_ name: String) -> String { "\(directory)/\(name)" }

  func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

  func write(_ name: String, _ bytes: [UInt8]) throws {
    let file = try FileDescriptor.create(path(name))
    try file.write(bytes)
  }

  /// Runs a command in the directory.
  @discardableResult
  func run(_ command: String) throws -> String { try shell("cd '\(directory)' && \(command)") }

  /// Where the symbols of a program lie, with their sizes, as nm sees it.
  func symbols(of program: String) throws -> [String: (address: UInt64, size: UInt64)] {
    var result: [String: (UInt64, UInt64)] = [:]
    for line in try run("nm -S \(program)").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 4, let address = UInt64(words[0], radix: 16),
        let size = UInt64(words[1], radix: 16)
      else { continue }
      result[String(words[3])] = (address, size)
    }
    return result
  }

  func search(_ directories: String...) -> DebugFileSearch {
    DebugFileSearch(directories: directories.map { ByteString(path($0)) })
  }

  /// The frames at an address of a program, as with `--symbols full`.
  func frames(
    _ program: String, _ address: UInt64, _ symbolicator: inout Symbolicator, deadline: Int64 = .max
  ) throws -> [Frame] {
    let file = try FileDescriptor.open(path(program))
    var frame = Frame(programCounter: 0x5000_0000 + address, trust: .exact)
    frame.moduleOffset = address
    frame.module = ModuleReference(path: ByteString(path(program)), buildID: nil)
    symbolicator.name(&frame, lookup: address, descriptor: file.rawValue)
    return symbolicator.expand(frame, lookup: address, descriptor: file.rawValue, deadline: deadline)
  }

  func frames(_ program: String, _ address: UInt64) throws -> [Frame] {
    var symbolicator = Symbolicator(debugFiles: search("debug"))
    return try frames(program, address, &symbolicator)
  }

  /// The frames as text: `name file:line`, the file without its directory.
  func text(_ frames: [Frame]) -> [String] {
    frames.map { frame in
      let file = frame.file.map { $0.escaped.split(separator: "/").last.map(String.init) ?? "" } ?? "?"
      return "\(frame.symbol?.escaped ?? "?") \(file):\(frame.line.map(String.init) ?? "?")"
    }
  }

  /// The same as binutils sees it.
  func addressToLine(_ program: String, _ addresses: [UInt64]) throws -> [UInt64: [String]] {
    let list = addresses.map { "0x" + String($0, radix: 16) }.joined(separator: " ")
    let lines = try run("addr2line -a -i -f -s -C -e \(program) \(list)").split(separator: "\n")
    var result: [UInt64: [String]] = [:]
    var current: UInt64 = 0
    var name = ""
    for line in lines {
      if line.hasPrefix("0x") {
        current = UInt64(line.dropFirst(2), radix: 16) ?? 0
        name = ""
      } else if name.isEmpty {
        name = String(line)
      } else {
        let place = line.split(separator: " ").first.map(String.init) ?? "?"
        result[current, default: []].append("\(name) \(place)")
        name = ""
      }
    }
    return result
  }
}
