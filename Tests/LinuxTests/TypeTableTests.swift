// A small table of types read, cut short and damaged; and that of the kernel that runs, mapped and read.

import Linux
import TestSupport
import Testing

@Suite struct TypeTableTests {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func table(_ bytes: [UInt8]) -> TypeTable? { TypeTable(KernelBytes(bytes)) }

  @Test func structuresHaveTheirMembers() throws {
    guard let table = Self.table(TypeTableBuilder.kernel.bytes) else {
      Issue.record("the table was not read")
      return
    }
    let names = table.structures.map { type in table.entry(type).map { Self.text(table.name(at: $0.name)) } }
    #expect(names == ["wholly_different", "sched_entity", "list_head", "task_struct"])
    let task = table.named(NameSet([Array("task_struct".utf8)]), among: table.structures)
    #expect(task == [table.structures[3]])
    let entry = table.entry(task[0])
    #expect(entry?.kind == .structure && entry?.sizeOrType == 96)
    let members = entry.map { table.members(of: $0) } ?? []
    #expect(
      members.map { Self.text(table.name(at: $0.name)) } == ["unread", "pid", "mm", "se", "comm", "tasks"])
    #expect(members.map(\.offset) == [0, 64, 128, 192, 384, 512])
    let array = members.count > 4 ? table.entry(members[4].type) : nil
    #expect(array?.kind == .array && array.map { table.detail(2, of: $0) } == 16)
  }

  /// Names that begin like it, or like which it begins, and the last one of the table, which has no eight bytes.
  @Test(arguments: ["bpf_iter_task", "bpf_iter_task_file", "bpf_iter_tas", "bpf_iter_", "bpf", ""])
  func namesAreFoundWhole(_ name: String) {
    guard let table = Self.table(TypeTableBuilder.kernel.bytes) else {
      Issue.record("the table was not read")
      return
    }
    let found = table.named(NameSet([Array(name.utf8)]), among: table.functions)
    let index = ["bpf_iter_task_file", "bpf_iter_task"].firstIndex(of: name)
    #expect(found == (index.map { [table.functions[$0]] } ?? []))
  }

  @Test func shortNameAtTheEndIsFound() {
    var builder = TypeTableBuilder()
    builder.addStructure("id", size: 0, [])
    builder.addStructure("rq", size: 0, [])
    guard let table = Self.table(builder.bytes) else {
      Issue.record("the table was not read")
      return
    }
    #expect(table.named(NameSet([Array("rq".utf8), Array("r".utf8)]), among: table.structures) == [2])
  }

  @Test func voidAndWhatIsNotThereAreNoEntries() {
    guard let table = Self.table(TypeTableBuilder.kernel.bytes) else {
      Issue.record("the table was not read")
      return
    }
    #expect(table.entry(0) == nil && table.entry(99) == nil && table.entry(.max) == nil)
    #expect(table.name(at: .max) == [])
  }

  /// Where the next type begins is not known behind one of an unknown kind, or with bits that have no meaning yet.
  @Test(arguments: [0, 20, 31] as [UInt32])
  func unknownKindIsRefused(_ kind: UInt32) {
    var builder = TypeTableBuilder.kernel
    builder.add(kind, "new")
    let isRead = Self.table(builder.bytes) != nil
    #expect(!isRead)
  }

  @Test func whatIsCutShortIsRefused() {
    let bytes = TypeTableBuilder.kernel.bytes
    for count in bytes.indices {
      let isRead = Self.table(Array(bytes[..<count])) != nil
      #expect(!isRead, "the first \(count) bytes")
    }
  }

  @Test(
    .enabled(if: RegularFile(path: Array("/sys/kernel/btf/vmlinux".utf8)) != nil, "this kernel has no types"))
  func kernelIsTheSameMappedAndRead() throws {
    let mapped = TypeTable(try KernelBytes(path: "/sys/kernel/btf/vmlinux"))
    let read = TypeTable(try KernelBytes(path: "/sys/kernel/btf/vmlinux", mapping: false))
    guard let mapped, let read else {
      Issue.record("the kernel's types were not read")
      return
    }
    #expect(mapped.structures == read.structures && mapped.functions == read.functions)
    #expect(mapped.structures.count > 1_000)
    #expect(mapped.named(NameSet([Array("bpf_iter_task".utf8)]), among: mapped.functions).count == 1)
  }
}
