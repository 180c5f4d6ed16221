// Programs whose files were removed or replaced while they run, and debug information that is not to be had.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
struct ReplacedFilesTests {
  /// A program waits in its library; then this is done to their files, and it is shown.
  private func dump(_ lab: borrowing RightsLab, as person: Person, after change: String) throws -> WatchRun {
    try lab.compileLibraries()
    try lab.compile(RightsLab.libraryUser, to: "program", "library.so -Wl,-rpath,\(lab.directory)")
    var target = try TargetProcess(
      path: "/bin/sh", arguments: ["-c", "exec \(person.rawValue) \(lab.directory)/program"])
    #expect(try target.readLine() == "ready")
    #expect(try shell("cd \(lab.directory) && \(change)").status == .exited(0))
    return try lab.dump(target.processID, as: person)
  }

  private func modules(_ record: [String: JSONValue], named name: String) -> [[String: JSONValue]] {
    (record["stacks"]?.array.first?.object["frames"]?.array ?? []).map(\.object).filter {
      $0["module"]?.string?.hasSuffix("/\(name)") == true
    }
  }

  /// What nobody can open is read from the program's memory, which holds exported names alone.
  @Test(
    "SYM-03, NS-07: a program and a library that were removed have their names, and are said to be removed",
    arguments: [Person.root, .nobody])
  func removedFiles(_ person: Person) throws {
    let lab = try RightsLab()
    let dump = try dump(lab, as: person, after: "rm program library.so")
    let record = try #require(dump.records(of: "dump").first)
    #expect(record.symbols.contains("wait_in_library") && record.symbols.contains("main"))
    for name in ["program", "library.so"] {
      let frames = modules(record, named: name)
      #expect(!frames.isEmpty && frames.allSatisfy { $0["module_deleted"] == .boolean(true) })
    }
    let remarks = dump.records(of: "notice").compactMap { $0["text"]?.string }
    let isCopied = remarks.contains {
      $0.contains("library.so cannot be opened") && $0.contains("taken from memory")
    }
    #expect(isCopied == (person == .nobody), "\(remarks)")
  }

  @Test(
    "SYM-04: what was put in the place of a mapped file names nothing",
    arguments: [Person.root, .nobody])
  func replacedFiles(_ person: Person) throws {
    let lab = try RightsLab()
    let dump = try dump(
      lab, as: person, after: "mv other.so library.so && cp /bin/true new && mv new program")
    let record = try #require(dump.records(of: "dump").first)
    #expect(record.symbols.contains("wait_in_library") && record.symbols.contains("main"))
    #expect(!record.symbols.contains("wrong_function"))
  }

  /// The library has no names but in a debug file, and the one that is there was made from another build.
  @Test("SYM-04: debug information of another build is not used, and one remark says so")
  func debugFileOfAnotherBuild() throws {
    let lab = try RightsLab()
    let change = """
      objcopy --only-keep-debug other.so library.debug && strip -s library.so &&
      objcopy --add-gnu-debuglink=library.debug library.so
      """
    try lab.compileLibraries()
    try lab.compile(RightsLab.libraryUser, to: "program", "library.so -Wl,-rpath,\(lab.directory)")
    #expect(try shell("cd \(lab.directory) && \(change)").status == .exited(0))
    var target = try TargetProcess(path: lab.directory + "/program", arguments: [])
    #expect(try target.readLine() == "ready")
    let dump = try lab.dump(target.processID)
    #expect(dump.records(of: "dump").first?.symbols.contains("wrong_function") == false)
    let remarks = dump.records(of: "notice").compactMap { $0["text"]?.string }
    let refused = remarks.filter { $0.contains("belongs to another build") }
    #expect(refused.count == 1 && refused.first?.contains("build-id") == true, "\(remarks)")
  }

  /// libdw would ask the servers that this variable names about files without debug information.
  @Test("SYM-11: a server for debug information is not asked") func serverForDebugInformation() throws {
    let lab = try RightsLab()
    let script = """
      import os, socket, subprocess, sys
      server = socket.socket()
      server.bind(('127.0.0.1', 0))
      server.listen()
      server.setblocking(False)
      url = 'http://127.0.0.1:%d/' % server.getsockname()[1]
      environment = {**os.environ, 'DEBUGINFOD_URLS': url, 'DEBUGINFOD_CACHE_PATH': sys.argv[1] + '/cache'}
      subprocess.run(sys.argv[2:], env=environment, stdout=subprocess.DEVNULL)
      try:
          server.accept()
          print('asked')
      except BlockingIOError:
          print('not asked')
      """
    try FileDescriptor.create(lab.directory + "/server.py").write(Array(script.utf8))
    #expect(try shell("strip -s \(lab.targetProgram)").status == .exited(0))
    let target = try lab.start("pause", as: .root)
    let asking = "python3 \(lab.directory)/server.py \(lab.directory)"
    #expect(
      try shell("\(asking) \(lab.program) dump --pid \(target.processID)").output == "not asked")
    // So that the silence says something.
    let request = #"import os, urllib.request as r; r.urlopen(os.environ["DEBUGINFOD_URLS"], timeout=0.2)"#
    #expect(try shell("\(asking) python3 -c '\(request)' 2>/dev/null").output == "asked")
  }
}
