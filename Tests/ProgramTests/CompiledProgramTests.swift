// Programs as other compilers, flags and linkers make them, each found waiting in a function of a known name.

import FoundationEssentials
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.serialized) struct CompiledProgramTests {
  private static let source = """
    #include <stdio.h>
    #include <unistd.h>
    static __attribute__((noinline)) void before(void) { puts("before"); }
    static __attribute__((noinline)) void wait_here(int count) {
      if (count > 9) before();
      for (;;) pause();
    }
    int main(int count, char **arguments) { puts("ready"); fflush(stdout); wait_here(count); return 0; }
    """

  /// What a dump shows of the program, innermost first; nil where it cannot be made.
  private func symbols(compiler: String, launcher: String = "") throws -> (names: [String], walkEnd: String?)?
  {
    let directory = try TemporaryDirectory()
    try FileDescriptor.create(directory.path + "/program.c").write(Array(Self.source.utf8))
    let made = "cd \(directory.path) && \(compiler.replacing("SOURCE", with: "program.c -o program")) 2>&1"
    guard try shell(made).status == .exited(0) else {
      print("skipped: cannot make it by \(compiler)")
      return nil
    }
    var target = try TargetProcess(
      path: "/bin/sh", arguments: ["-c", "exec \(launcher) \(directory.path)/program"])
    #expect(try target.readLine() == "ready")
    let process = target.processID
    #expect(try eventually { () throws(Errno) in try threadStates(of: process)[process] == "S" })
    var dump = try WatchRun(["dump", "--json", "--pid", "\(process)"])
    let record = try dump.next("dump")
    try dump.readToEnd()
    #expect(try dump.end() == .exited(0))
    return (record.symbols, record["stacks"]?.array.first?.object["walk_end"]?.string)
  }

  @Test(
    "SYM-01, SYM-17: wherever linker and kernel put a program, its functions have their names",
    arguments: [
      ("gcc -O1 SOURCE", ""), ("gcc -O1 SOURCE", "setarch -R"), ("gcc -O1 -no-pie SOURCE", ""),
      ("gcc -O1 -static SOURCE", ""), ("gcc -O1 -static-pie SOURCE", ""),
      ("gcc -O1 -no-pie SOURCE -Wl,-Ttext-segment=0x10000000", ""), ("clang -O1 -fuse-ld=lld SOURCE", ""),
      ("gcc -O1 SOURCE -Wl,-z,noseparate-code", ""), ("gcc -O1 -fuse-ld=gold SOURCE", ""),
    ])
  func layout(compiler: String, launcher: String) throws {
    guard let (names, walkEnd) = try symbols(compiler: compiler, launcher: launcher) else { return }
    let waiting = try #require(names.firstIndex(of: "wait_here"), "\(names)")
    #expect(names[waiting + 1] == "main" && walkEnd == "root")
  }

  /// The second one has no rules at all, in the C library neither; the third one none in the C library alone.
  @Test(
    "UW-01: without rules the innermost function is shown, and no caller is invented",
    arguments: [
      "gcc -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-exceptions -fomit-frame-pointer SOURCE",
      "gcc -O1 -static SOURCE && objcopy -R .eh_frame -R .eh_frame_hdr program",
      "musl-gcc -O1 -static SOURCE",
    ])
  func withoutRules(compiler: String) throws {
    guard let (names, _) = try symbols(compiler: compiler) else { return }
    let known: Set = [
      "pause", "__libc_pause", "__syscall_cp_asm", "__syscall_cp_c", "wait_here", "main",
      "__libc_start_call_main", "__libc_start_main",
      "__libc_start_main_impl", "_start",
    ]
    #expect(names.contains("pause") || names.contains("__libc_pause"), "\(names)")
    #expect(names.allSatisfy(known.contains), "\(names)")
  }
}
