// Opening the file that is really mapped, whatever its name says.

import Glibc
import Linux
import TestSupport
import Testing

@Suite struct TargetFilesTests {
  /// A directory of its own, removed with what the test put into it.
  private func withDirectory(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/stallwatch.XXXXXX\0".utf8.map(CChar.init))
    guard unsafe mkdtemp(&template) != nil else { throw Errno(errno) }
    let path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    defer {
      var removal = try? TargetProcess(path: "/bin/rm", arguments: ["-r", path])
      _ = try? removal?.waitForExit()
    }
    try body(path)
  }

  private func copy(_ source: String, to destination: String) throws {
    let bytes = try FileDescriptor.open(source).readAll(limit: 64 << 20)
    try FileDescriptor.create(destination).write(bytes)
    unsafe chmod(destination, 0o755)
  }

  /// The program's executable mapping.
  private func code(of target: borrowing TargetProcess, named name: String) throws -> MemoryRegion {
    let map = try MemoryMap(processID: target.processID)
    let region = map.regions.first {
      $0.isExecutable && String(decoding: $0.path, as: UTF8.self).hasSuffix(name)
    }
    return try #require(region)
  }

  @Test(
    "PROC-04, PROC-05: a file of any name is opened by its identity",
    arguments: ["app", "my app  dir", "new\nline", #"back\012slash"#, "ends (deleted)"])
  func opensByIdentity(_ name: String) throws {
    try withDirectory { directory in
      let path = "\(directory)/\(name)"
      try copy(builtProduct("TestTarget"), to: path)
      var target = try TargetProcess(path: path, arguments: ["pause"])
      #expect(try target.readLine() == "ready")
      let map = try MemoryMap(processID: target.processID)
      let region = try #require(map.regions.first { $0.isExecutable })
      let image = try #require(TargetFiles(processID: target.processID).image(for: region))
      #expect(image.identity == region.identity)
    }
  }

  @Test("SYM-03, SYM-04: a file that was deleted and replaced is opened as it was")
  func opensADeletedAndReplacedFile() throws {
    try withDirectory { directory in
      let path = "\(directory)/app"
      try copy(builtProduct("TestTarget"), to: path)
      var target = try TargetProcess(path: path, arguments: ["pause"])
      #expect(try target.readLine() == "ready")
      unsafe unlink(path)
      try copy("/bin/true", to: path)
      let region = try code(of: target, named: "/app")
      #expect(region.isDeleted)
      let image = try #require(TargetFiles(processID: target.processID).image(for: region))
      let original = try ElfImage(
        pages: FilePages(file: try FileDescriptor.open(builtProduct("TestTarget"))), identity: region.identity
      )
      #expect(image.pages.bytes(at: 0, count: 4096) == original.pages.bytes(at: 0, count: 4096))
    }
  }

  /// Without the right to follow `map_files`, here by asking for a mapping that does not exist.
  @Test(
    "SYM-26: without map_files the same file is found by its names, and no other",
    arguments: ["/TestTarget", "/libc.so.6"])
  func fallsBackToNames(_ name: String) throws {
    let target = try TargetProcess.start("pause")
    var region = try code(of: target, named: name)
    let identity = region.identity
    region.end += 4096
    #expect(TargetFiles(processID: target.processID).image(for: region)?.identity == identity)
    region.identity.deviceMinor += 1
    #expect(TargetFiles(processID: target.processID).image(for: region) == nil)
  }

  @Test func opensAFileOnce() throws {
    let target = try TargetProcess.start("pause")
    let files = TargetFiles(processID: target.processID)
    let map = try MemoryMap(processID: target.processID)
    let images = map.regions.filter { String(decoding: $0.path, as: UTF8.self).hasSuffix("/TestTarget") }
      .map(files.image(for:))
    #expect(images.count > 1)
    #expect(images.allSatisfy { $0 === images.first ?? nil })
  }

  @Test("PROC-05: another file of that name is refused") func refusesAnotherFileOfThatName() throws {
    let target = try TargetProcess.start("pause")
    var region = try code(of: target, named: "/TestTarget")
    region.identity.inode &+= 1
    #expect(TargetFiles(processID: target.processID).image(for: region) == nil)
  }

  @Test func refusesWhatIsNoRegularFile() throws {
    try withDirectory { directory in
      let pipe = "\(directory)/pipe"
      let made = unsafe mkfifo(pipe, 0o600)
      #expect(made == 0)
      for path in [pipe, directory, "/dev/null", "\(directory)/absent", "a\0b"] {
        let isOpen = RegularFile(path: Array(path.utf8)) != nil
        #expect(!isOpen, "\(path)")
      }
    }
  }
}
