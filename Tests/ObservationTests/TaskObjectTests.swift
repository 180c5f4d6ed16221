// The few types that are picked out for libbpf: what is left of a small kernel, and that the program comes out the same as
// with all types of the kernel that runs.

import Linux
import TestSupport
import Testing

@testable import Observation

@Suite struct ReducedTypesTests {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func reduced() -> TypeTable? {
    guard let kernel = TypeTable(KernelBytes(TypeTableBuilder.kernel.bytes)),
      let program = TypeTable(KernelBytes(TypeTableBuilder.program.bytes))
    else { return nil }
    return TypeTable(KernelBytes(ReducedTypes(of: kernel, for: program).bytes))
  }

  /// A line for each structure: name, size, and members with their kinds and places.
  private static func lines(_ table: borrowing TypeTable) -> [String] {
    table.structures.compactMap { type in
      guard let entry = table.entry(type) else { return nil }
      let members = table.members(of: entry).map { member in
        let kind = table.entry(member.type).map { "\($0.kind)" } ?? "void"
        return " \(text(table.name(at: member.name))):\(kind)@\(member.offset)"
      }
      return "\(text(table.name(at: entry.name))) \(entry.sizeOrType)\(members.joined())"
    }
  }

  @Test func whatTheProgramNamesIsLeft() {
    guard let table = Self.reduced() else {
      Issue.record("no table")
      return
    }
    #expect(
      Self.lines(table) == [
        "sched_entity 24 :union@128", "list_head 16",
        "task_struct 96 pid:integer@64 se:structure@192 comm:array@384 tasks:structure@512",
      ])
  }

  /// A type that would hold itself ends, and so does a chain without end.
  @Test func circlesEnd() {
    var kernel = TypeTableBuilder()
    kernel.addStructure("cfs_rq", size: 8, [("rq", 1, 0), ("exec_start", 2, 0)])
    kernel.add(8, "chain", sizeOrType: 3)
    kernel.add(10, sizeOrType: 2)
    guard let kernel = TypeTable(KernelBytes(kernel.bytes)),
      let program = TypeTable(KernelBytes(TypeTableBuilder.program.bytes)),
      let table = TypeTable(KernelBytes(ReducedTypes(of: kernel, for: program).bytes))
    else {
      Issue.record("no table")
      return
    }
    #expect(Self.lines(table) == ["cfs_rq 8 rq:void@0 exec_start:void@0"])
  }
}

@Suite(.enabled(if: isTaskIteratorExpected, "the task iterator needs root, Linux 5.15 and its types"))
struct TaskObjectTests {
  /// A digest of the program's instructions, as they were given to the kernel (kernel/bpf/syscall.c, `bpf_prog_show_fdinfo`).
  private func tag(of program: SharedFile) throws -> String {
    let facts = try readPseudoFile("/proc/self/fdinfo/\(program.rawDescriptor)")
    let line = String(decoding: facts, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("prog_tag:")
    }
    return try String(#require(line))
  }

  @Test func fewTypesGiveTheSameProgramAsAll() throws {
    let request = TaskRequest(process: 1)
    let quick = try TaskObject.loadQuickly(request)
    let full = try TaskObject().load(request)
    #expect(try tag(of: quick.program) == tag(of: full.program))
  }
}
