// Where a variable of a running process is, as the analyst finds it.

import Glibc
import Linux
import Stacks
import StallCore
import TestSupport
import Testing

@testable import Analysis

@Suite struct HeartbeatFinderTests {
  private func find(_ name: String, in target: borrowing TargetProcess) throws -> HeartbeatFinding {
    var finder = HeartbeatFinder(
      process: target.processID, executable: builtProduct("stallwatch"),
      fileHelper: CaptureHelper(executable: builtProduct("TestCaptureHelper"), arguments: []))
    return finder.find(try #require(HeartbeatName(ByteString(name))), of: target.processID)
  }

  private func value(at address: UInt64, _ width: Int, of process: Int32) throws -> UInt64 {
    var value: UInt64 = 0
    try unsafe withUnsafeMutableBytes(of: &value) {
      _ = try unsafe ProcessMemory(ofThread: process).read(
        at: address, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<width]))
    }
    return value
  }

  @Test(arguments: [("heart_rounds", 8), ("heart_rounds_32", 4), ("TestTarget:heart_rounds", 8)])
  func placeIsThatOfTheVariable(name: String, width: Int) throws {
    let target = try TargetProcess.start("heart", "idle")
    guard case .found(let address, let found, _) = try find(name, in: target) else {
      Issue.record("not found")
      return
    }
    #expect(found == width)
    let first = try value(at: address, width, of: target.processID)
    #expect(try eventually { try value(at: address, width, of: target.processID) != first })
  }

  /// The place that is told can be asked for again.
  @Test func offsetMeansTheSamePlace() throws {
    let target = try TargetProcess.start("heart", "idle")
    guard case .found(let address, _, let place) = try find("heart_rounds", in: target) else {
      Issue.record("not found")
      return
    }
    #expect(place == "TestTarget:heart_rounds")
    let map = try MemoryMap(processID: target.processID)
    let bias = try #require(map.regions.first { $0.path.hasSuffix("/TestTarget") }).start
    let again = try find("TestTarget+0x\(String(address - bias, radix: 16))", in: target)
    guard case .found(address, 4, _) = again else {
      Issue.record("\(again)")
      return
    }
  }

  @Test(arguments: [
    (
      "heart_constant",
      HeartbeatFinding.unusable(why: "lies where nothing can be written, so it never changes")
    ),
    ("heart_function", .unusable(why: "is a function; a variable that the loop counts up is meant")),
    ("heart_round", .unknown(nearest: ["heart_rounds", "heart_rounds_32"])),
  ]) func whatIsNone(name: String, finding: HeartbeatFinding) throws {
    let target = try TargetProcess.start("heart", "idle")
    #expect(try find(name, in: target) == finding)
  }

  @Test func moduleThatIsNotThereIsTold() throws {
    let target = try TargetProcess.start("heart", "idle")
    guard case .noModule(let modules) = try find("nowhere.so:counter", in: target) else {
      Issue.record("found")
      return
    }
    #expect(modules.contains("TestTarget"))
  }

  @Test func endedProcessHasNone() throws {
    var target = try TargetProcess.start("heart", "idle")
    target.signal(SIGKILL)
    _ = try target.waitForExit()
    guard case .failed = try find("heart_rounds", in: target) else {
      Issue.record("found")
      return
    }
  }

  @Test(arguments: [
    HeartbeatFinding.found(address: 1 << 40, width: 8, place: "a:b"), .several(["a", "b"]),
    .unusable(why: "is"),
    .unknown(nearest: []), .noModule(modules: ["x"]), .failed(why: "it"),
  ]) func findingsSurviveTheirMessage(finding: HeartbeatFinding) throws {
    #expect(try HeartbeatFinding(decoding: finding.encoded) == finding)
    for count in 0..<finding.encoded.count {
      #expect(throws: MessageReader.Malformed.self) {
        try HeartbeatFinding(decoding: Array(finding.encoded[..<count]))
      }
    }
  }
}

extension [UInt8] {
  fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
