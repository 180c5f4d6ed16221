// Writes small tables of types (BTF) as a kernel or a BPF program has them, for tests of what reads them.

package struct TypeTableBuilder {
  private var types: [UInt32] = []
  private var names: [UInt8] = [0]
  private var count: UInt32 = 0

  package init() {}

  /// Its number. `parts` is how many members or the like `details` has, three words each of a member.
  @discardableResult
  package mutating func add(
    _ kind: UInt32, _ name: String = "", sizeOrType: UInt32 = 0, parts: Int = 0, details: [UInt32] = [],
    hasBitFields: Bool = false
  ) -> UInt32 {
    let information = kind << 24 | UInt32(parts) | (hasBitFields ? 1 << 31 : 0)
    types += [add(name: name), information, sizeOrType] + details
    count += 1
    return count
  }

  /// Members with their types and where they begin, in bits.
  @discardableResult
  package mutating func addStructure(
    _ name: String, size: UInt32, _ members: [(name: String, type: UInt32, offset: UInt32)],
    isUnion: Bool = false
  ) -> UInt32 {
    let details = members.flatMap { [add(name: $0.name), $0.type, $0.offset] }
    return add(isUnion ? 5 : 4, name, sizeOrType: size, parts: members.count, details: details)
  }

  private mutating func add(name: String) -> UInt32 {
    if name.isEmpty { return 0 }
    defer { names += Array(name.utf8) + [0] }
    return UInt32(names.count)
  }

  package var bytes: [UInt8] {
    let typeBytes = UInt32(4 * types.count)
    let header = [0x0001_EB9F, 24, 0, typeBytes, typeBytes, UInt32(names.count)]
    return (header + types).flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
      + names
  }
}

extension TypeTableBuilder {
  /// A task with a number, a pointer, an array and a structure within, one of whose members lies in a union without a name.
  package static var kernel: TypeTableBuilder {
    var kernel = TypeTableBuilder()
    let integer = kernel.add(1, "unsigned int", sizeOrType: 4, details: [32])
    let letter = kernel.add(1, "char", sizeOrType: 1, details: [8])
    let name = kernel.add(3, details: [letter, integer, 16])
    // What it points to comes later.
    let pointer = kernel.add(2, sizeOrType: 99)
    let constant = kernel.add(10, sizeOrType: integer)
    let number = kernel.add(8, "pid_t", sizeOrType: constant)
    kernel.add(4, "wholly_different", sizeOrType: 8)
    let choice = kernel.addStructure(
      "", size: 8, [("exec_start", integer, 0), ("unread", integer, 0)], isUnion: true)
    let entity = kernel.addStructure("sched_entity", size: 24, [("unread", integer, 0), ("", choice, 128)])
    let foreign = kernel.addStructure("list_head", size: 16, [("next", pointer, 0)])
    kernel.addStructure(
      "task_struct", size: 96,
      [
        ("unread", integer, 0), ("pid", number, 64), ("mm", pointer, 128), ("se", entity, 192),
        ("comm", name, 384), ("tasks", foreign, 512),
      ])
    let prototype = kernel.add(13, sizeOrType: integer, parts: 1, details: [0, integer])
    kernel.add(12, "bpf_iter_task_file", sizeOrType: prototype)
    kernel.add(12, "bpf_iter_task", sizeOrType: prototype)
    return kernel
  }

  /// What reads some of that: `flags` of a shape that this kernel does not have, and a structure that it does not know.
  package static var program: TypeTableBuilder {
    var program = TypeTableBuilder()
    let integer = program.add(1, "int", sizeOrType: 4, details: [32])
    let entity = program.addStructure("sched_entity", size: 4, [("exec_start", integer, 0)])
    program.addStructure(
      "task_struct___of_tasks", size: 16,
      [("pid", integer, 0), ("se", entity, 32), ("comm", integer, 64), ("tasks", integer, 96)])
    program.addStructure("cfs_rq", size: 4, [("rq", integer, 0)])
    return program
  }
}
