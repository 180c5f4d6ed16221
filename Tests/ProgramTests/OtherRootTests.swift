// Programs whose files are not where their names lead from here: in mounts of their own, in another root.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

extension RightsLab {
  /// Waits for ever in a function of a library.
  static let libraryUser = """
    #include <stdio.h>
    void wait_in_library(void);
    int main(void) { puts("ready"); fflush(stdout); wait_in_library(); return 0; }
    """

  /// Waits for ever in a function that is not exported, and whose name only the file has.
  static let waitingProgram = """
    #include <stdio.h>
    #include <unistd.h>
    static __attribute__((noinline)) void wait_here(void) { for (;;) pause(); }
    int main(void) { puts("ready"); fflush(stdout); wait_here(); return 0; }
    """

  /// Compiles C to a file of the directory that every user may read.
  func compile(_ source: String, to name: String, _ flags: String = "") throws {
    try FileDescriptor.create("\(directory)/\(name).c").write(Array(source.utf8))
    let status = try shell("cd \(directory) && umask 022 && gcc -O1 -o \(name) \(name).c \(flags)").status
    #expect(status == .exited(0))
  }

  /// `library.so` with one function, and `other.so` with another function in the same place.
  func compileLibraries() throws {
    let waiting = "#include <unistd.h>\n#define WAITING(name) void name(void) { for (;;) pause(); }\n"
    try compile(waiting + "WAITING(wait_in_library)", to: "library.so", "-shared -fPIC")
    try compile(
      waiting + "WAITING(wrong_function) WAITING(wait_in_library)", to: "other.so", "-shared -fPIC")
    // Otherwise the wrong file would not show.
    let places = try shell(
      "cd \(directory); nm library.so | grep wait_in; nm other.so | grep wrong"
    ).output.split(separator: "\n")
    #expect(Set(places.map { $0.prefix(16) }).count == 1 && places.count == 2)
  }

  /// Starts what these commands end with `exec` of, in a mount namespace of its own; ready when it returns.
  func start(inNamespace commands: String) throws -> TargetProcess {
    var target = try TargetProcess(
      path: "/bin/sh", arguments: ["-c", "cd \(directory) && exec unshare -m sh -ec '\(commands)'"])
    guard try target.readLine() == "ready" else { throw Errno.noChildProcess }
    return target
  }

  /// Everything that a dump says of it.
  func dump(_ process: Int32, as person: Person = .root) throws -> WatchRun {
    var run = try WatchRun(shell: command("dump --json --pid \(process)", as: person))
    try run.readToEnd()
    return run
  }
}

@Suite(.serialized, .enabled(if: RightsLab.isPossible, "needs root and mounts of its own"))
struct OtherRootTests {
  @Test("NS-01: a program that only its own mounts show has its names", arguments: [Person.root, .nobody])
  func hiddenProgram(_ person: Person) throws {
    let lab = try RightsLab()
    try lab.compile(RightsLab.waitingProgram, to: "program")
    let target = try lab.start(
      inNamespace: """
        mkdir x; mount -t tmpfs -o mode=755 tmpfs x; cp program x/inner
        exec \(person.rawValue) x/inner
        """)
    #expect(unsafe access(lab.directory + "/x/inner", F_OK) != 0)
    let dump = try lab.dump(target.processID, as: person)
    let symbols = try #require(dump.records(of: "dump").first).symbols
    #expect(symbols.contains("wait_here") && symbols.contains("main"), "\(symbols)")
  }

  @Test(
    "NS-02: of two libraries of one path, that of the program gives the names",
    arguments: [Person.root, .nobody])
  func libraryOfTheSamePath(_ person: Person) throws {
    let lab = try RightsLab()
    try lab.compileLibraries()
    try lab.compile(RightsLab.libraryUser, to: "program", "library.so -Wl,-rpath,\(lab.directory)")
    let target = try lab.start(
      inNamespace: """
        mkdir own; cp library.so own; mv other.so library.so; mount --bind own/library.so library.so
        exec \(person.rawValue) ./program
        """)
    let dump = try lab.dump(target.processID, as: person)
    let symbols = try #require(dump.records(of: "dump").first).symbols
    #expect(symbols.contains("wait_in_library") && !symbols.contains("wrong_function"), "\(symbols)")
  }

  /// `maps` shows its path as we see it: in its root another file has that name.
  @Test("NS-04: a program in another root has its names", arguments: [Person.root, .nobody])
  func otherRoot(_ person: Person) throws {
    let lab = try RightsLab()
    try lab.compile(RightsLab.waitingProgram, to: "program", "-static")
    let user = person == .root ? "" : "--userspec=65534:65534"
    var target = try TargetProcess(
      path: "/bin/sh",
      arguments: [
        "-c",
        """
        cd \(lab.directory) && mkdir -p jail$PWD/jail && mv program jail && cp /bin/true jail$PWD/jail/program &&
        exec chroot \(user) jail /program
        """,
      ])
    #expect(try target.readLine() == "ready")
    let dump = try lab.dump(target.processID, as: person)
    let symbols = try #require(dump.records(of: "dump").first).symbols
    #expect(symbols.contains("wait_here") && symbols.contains("main"), "\(symbols)")
  }

  /// It is process 1 there, and its `/tmp` is another one (which hides a checkout below ours).
  @Test("JIT-01: generated code is named by the list that the program itself sees, if that is its own")
  func listOfGeneratedCode() throws {
    let lab = try RightsLab()
    var launcher = try TargetProcess(
      path: "/bin/sh",
      arguments: [
        "-c",
        """
        cd \(lab.directory) && exec unshare -p -m -f --kill-child --mount-proc \
        sh -c 'exec 9<"$0" && mount -t tmpfs tmpfs /tmp && exec /proc/self/fd/9 generated-code' \(builtProduct("TestTarget"))
        """,
      ])
    #expect(try launcher.readLine() == "ready")
    let children = try readPseudoFile("/proc/\(launcher.processID)/task/\(launcher.processID)/children")
    let process = try #require(
      Int32(String(decoding: children, as: UTF8.self).split(separator: " ").first ?? ""))
    let symbols = try #require(lab.dump(process).records(of: "dump").first).symbols
    #expect(symbols.first == "generated_function" && symbols.contains("main"), "\(symbols)")
    // Anybody may write a file of that name into a shared /tmp.
    let list = "/proc/\(process)/root/tmp/perf-1.map"
    #expect(unsafe chown(list, 65534, 65534) == 0)
    let distrusted = try #require(lab.dump(process).records(of: "dump").first).symbols
    #expect(!distrusted.contains("generated_function") && distrusted.contains("main"), "\(distrusted)")
  }

  /// A bind mount shows what lies on the same filesystem, and `/proc` does not.
  @Test("SW-05: in a root without /proc, the first line says so") func rootWithoutProc() throws {
    let lab = try RightsLab()
    let (output, status) = try shell(
      """
      mkdir \(lab.directory)/root; exec unshare -m sh -c 'mount --bind / \(lab.directory)/root || exit 9
      chroot \(lab.directory)/root true || exit 9
      exec chroot \(lab.directory)/root \(lab.program) --pid 1 2>&1'
      """)
    if status == .exited(9) { return print("skipped: the root is in several filesystems") }
    #expect(output.hasPrefix("stallwatch: cannot read /proc"), "\(output)")
    #expect(status == .exited(1) || status == .exited(3))
  }
}
