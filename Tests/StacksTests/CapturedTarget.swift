// A thread of a running program, copied for a test with the plainest means.

import CLinux
import Glibc
import Linux
import Stacks
import StallCore
import TestSupport

/// Copies of a thread and the files it runs from.
struct CapturedTarget {
  var snapshot: ThreadSnapshot
  let space: AddressSpace
  let files: TargetFiles

  init(processID: Int32, threadID: Int32) throws(Errno) {
    let map = try MemoryMap(processID: processID)
    snapshot = try CapturedTarget.stopAndCopy(processID, threadID, map)
    files = TargetFiles(processID: processID)
    let vdso = map.regions.first { $0.path == Array("[vdso]".utf8) }
    space = AddressSpace(
      map: map, vdso: vdso.flatMap { try? CapturedTarget.read(processID, $0.start, Int($0.end - $0.start)) },
      image: files.image(for:))
  }

  /// The program's own file.
  var ownImage: ElfImage? { space.map.regions.first { $0.isExecutable }.flatMap(files.image(for:)) }

  func ownFile() throws(Errno) -> [UInt8] {
    try FileDescriptor.open(builtProduct("TestTarget")).readAll(limit: 1 << 20)
  }

  /// The file with the place and number of its section headers, and the place of their names, gone (`Elf64_Ehdr`).
  static func withoutSections(_ file: [UInt8]) -> [UInt8] {
    var file = file
    for place in [40..<48, 60..<64] {
      file.replaceSubrange(place, with: [UInt8](repeating: 0, count: place.count))
    }
    return file
  }

  /// The program's own file with its sorted table of rules made unknown.
  func ownFileWithoutTable() throws(Errno) -> [UInt8] {
    var file = try ownFile()
    for header in stride(from: 64, to: 64 + 56 * Int(file[56]), by: 56)
    where file.littleEndian(at: header, count: 4) == 0x6474_E550 {
      file[header] = 0
    }
    return file
  }

  /// The same address space with another image of the program's own file.
  func space(with image: ElfImage?) -> AddressSpace {
    let own = ownImage?.identity
    return AddressSpace(map: space.map) { [files] in $0.identity == own ? image : files.image(for: $0) }
  }

  private static func stopAndCopy(
    _ processID: Int32, _ threadID: Int32, _ map: MemoryMap
  ) throws(Errno) -> ThreadSnapshot {
    _ = try systemCall { clinux_ptrace_seize(threadID) }
    defer { _ = clinux_ptrace_detach(threadID, 0) }
    _ = try systemCall { clinux_ptrace_interrupt(threadID) }
    var status: Int32 = 0
    _ = try systemCall { unsafe clinux_wait(threadID, &status, true) }
    var words = [UInt64](repeating: 0, count: 27)
    _ = try systemCall { unsafe clinux_ptrace_registers(threadID, &words, 27 * 8) }
    var registers = Registers()
    // `struct user_regs_struct` (sys/user.h) by DWARF number.
    let places = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16]
    for (number, place) in places.enumerated() { registers[number] = words[place] }
    let region = map.region(containing: registers.stackPointer)
    let start = max(registers.stackPointer &- 128, region?.start ?? 0)
    let end = region?.end ?? start
    let bytes = try read(processID, start, min(Int(end - start), 1 << 20))
    return ThreadSnapshot(
      threadID: threadID, way: .ptrace, registers: registers, stackAddress: start, stackBytes: bytes,
      stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
  }

  private static func read(_ processID: Int32, _ address: UInt64, _ count: Int) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = try systemCall { unsafe clinux_process_vm_read(processID, address, &bytes, count) }
    return Array(bytes[..<done])
  }
}

extension [UInt8] {
  /// An ELF file with one section moved to its end, in a zlib stream of one stored block (RFC 1950, RFC 1951 3.2.4).
  func compressing(_ section: ElfImage.Segment, _ bytes: [UInt8]) -> [UInt8]? {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var sums = (low: 1, high: 0)
    for byte in bytes {
      sums.low = (sums.low + Int(byte)) % 65521
      sums.high = (sums.high + sums.low) % 65521
    }
    let stream =
      [0x78, 0x01, 1] + number(bytes.count, 2) + number(~bytes.count, 2) + bytes
      + number(sums.high << 16 | sums.low, 4).reversed()
    // `Elf64_Chdr`: ELFCOMPRESS_ZLIB, the size.
    let contents = number(1, 8) + number(bytes.count, 8) + number(1, 8) + stream
    let headers = Int(littleEndian(at: 40, count: 8))
    let sectionCount = Int(littleEndian(at: 60, count: 2))
    let header = (0..<sectionCount).map { headers + $0 * 64 }.first {
      littleEndian(at: $0 + 24, count: 8) == section.fileOffset
        && littleEndian(at: $0 + 32, count: 8) == section.fileSize
    }
    guard let header else { return nil }
    var file = self + contents
    file[header + 9] |= 0x08  // SHF_COMPRESSED
    file.replaceSubrange(header + 24..<header + 40, with: number(count, 8) + number(contents.count, 8))
    return file
  }
}

extension ThreadSnapshot {
  /// Where a word lies in the copied bytes for the first time.
  func offset(ofWord word: UInt64) -> Int? {
    stride(from: 0, to: stackBytes.count - 7, by: 8).first {
      stackBytes.littleEndian(at: $0, count: 8) == word
    }
  }
}

/// A run of one of `TestTarget`'s stacks, stopped in `innermost`.
struct StoppedStack: ~Copyable {
  private let target: TargetProcess
  private let functions: [(start: UInt64, name: String)]

  init(_ program: String, _ arguments: String...) throws(Errno) {
    var target = try TargetProcess(
      path: builtProduct("TestTarget"), arguments: [program] + arguments)
    var functions: [(start: UInt64, name: String)] = []
    var line = ""
    while line != "stopping" {
      line = try target.readLine()
      let words = line.split(separator: " ")
      if words.count == 2, let start = UInt64(words[0], radix: 16) {
        functions.append((start, String(words[1])))
      }
    }
    self.target = target
    self.functions = functions.sorted { $0.start < $1.start }
  }

  var processID: Int32 { target.processID }

  /// The first thread, or the second.
  func capture(secondThread: Bool = false) throws(Errno) -> CapturedTarget {
    let process = target.processID
    let thread = secondThread ? try Self.lastThread(of: process) : process
    _ = try eventually { () throws(Errno) in
      // 34 is `pause`.
      try FileDescriptor.open("/proc/\(process)/task/\(thread)/syscall").readAll(limit: 3)
        == Array("34 ".utf8)
    }
    return try CapturedTarget(processID: process, threadID: thread)
  }

  private static func lastThread(of process: Int32) throws(Errno) -> Int32 {
    guard let directory = unsafe opendir("/proc/\(process)/task") else { throw .noSuchProcess }
    defer { unsafe closedir(directory) }
    var last: Int32 = 0
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      last = max(last, Int32(name) ?? 0)
    }
    return last
  }

  /// The names of the program's own known functions on the stack; a frame of none is left out, a signal frame is
  /// `signal`, one of generated code `generated`, and one outside all code `nowhere`.
  func names(_ walk: Walk, in space: AddressSpace) -> [String] {
    let ownEnd = functions.last.flatMap { space.map.region(containing: $0.start)?.end } ?? 0
    return walk.frames.compactMap { walked in
      let address = walked.frame.programCounter
      if walked.frame.isSignalFrame { return "signal" }
      if walked.frame.isGenerated { return "generated" }
      if space.map.region(containing: address) == nil { return "nowhere" }
      guard let offset = walked.frame.moduleOffset, let lookup = walked.lookupAddress, address < ownEnd else {
        return nil
      }
      return functions.last { $0.start <= address &- offset &+ lookup }?.name
    }
  }
}
