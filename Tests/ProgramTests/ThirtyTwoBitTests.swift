// A program of 32 bits: nothing is judged by its foreign system-call numbers, and none of its threads is stopped.

import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct ThirtyTwoBitTests {
  /// An i386 ELF file of one segment: write(1, "ready\n", 6), then pause() again and again (int 0x80).
  private static let program = [
    "7f454c460101010000000000000000000200030001000000548004083400000000000000000000003400200001000000",
    "00000000010000000000000000800408008004087c0000007c0000000500000000100000b804000000bb01000000b976",
    "800408ba06000000cd80b81d000000cd80ebf790909072656164790a",
  ].joined()

  private static func start() throws -> TargetProcess {
    let path = "/tmp/stallwatch-test-\(getpid())-i386"
    defer { unsafe unlink(path) }
    try write(to: path)
    var target = try TargetProcess(path: path, arguments: [])
    let line = try target.readLine()
    if line != "ready" { throw Errno.inputOutput }
    return target
  }

  private static func write(to path: String) throws {
    let file = try FileDescriptor.create(path)
    try file.write(bytes)
    unsafe chmod(path, 0o755)
  }

  /// Kernels without CONFIG_IA32_EMULATION do not run such programs.
  private static let isSupported: Bool = {
    do {
      let target = try start()
      return target.processID > 0
    } catch {
      return false
    }
  }()

  private static var bytes: [UInt8] {
    let digits = Array(program.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  @Test(
    "UW-18: a dump of a 32-bit program says why there is no stack",
    .enabled(if: isSupported, "this kernel runs no 32-bit programs")) func dumpSaysWhyThereIsNoStack()
    throws
  {
    let target = try Self.start()
    let (output, status) = try shell("stallwatch dump --pid \(target.processID)")
    #expect(output.contains("is a 32-bit program") && output.contains("target stopped 0 µs"))
    #expect(status == .exited(5))
  }

  @Test(
    "UW-18: a watch of a 32-bit program says that nothing is judged",
    .enabled(if: isSupported, "this kernel runs no 32-bit programs")) func watchSaysThatNothingIsJudged()
    throws
  {
    let target = try Self.start()
    var watch = try WatchRun(["--json", "--pid", "\(target.processID)"])
    let notice = try watch.next("notice")
    #expect(notice["kind"]?.string == "loop.none")
    #expect(notice["text"]?.string?.hasPrefix("a 32-bit program") == true)
  }
}
