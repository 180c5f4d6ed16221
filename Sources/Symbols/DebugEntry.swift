// One entry of debug information: what it is, what it is called, what it covers.

internal import CElfutils
internal import Glibc
internal import StallCore

/// Lives as long as the `DebugFile` it comes from.
@safe struct DebugEntry {
  enum Kind {
    case function
    case inlinedCall
    /// A part of a function.
    case block
    /// May hold functions.
    case scope
    case compilationUnit
    case other
  }

  private var entry: Dwarf_Die

  init(_ entry: Dwarf_Die) { unsafe self.entry = entry }

  var kind: Kind {
    mutating get {
      switch unsafe Int(dwarf_tag(&entry)) {
      case Int(DW_TAG_subprogram): .function
      case Int(DW_TAG_inlined_subroutine): .inlinedCall
      case Int(DW_TAG_lexical_block), Int(DW_TAG_try_block), Int(DW_TAG_catch_block), Int(DW_TAG_with_stmt):
        .block
      case Int(DW_TAG_namespace), Int(DW_TAG_module), Int(DW_TAG_structure_type), Int(DW_TAG_class_type),
        Int(DW_TAG_union_type), Int(DW_TAG_enumeration_type), Int(DW_TAG_interface_type):
        .scope
      case Int(DW_TAG_compile_unit), Int(DW_TAG_skeleton_unit): .compilationUnit
      default: .other
      }
    }
  }

  var offset: UInt64 {
    mutating get { unsafe dwarf_dieoffset(&entry) }
  }

  var firstChild: DebugEntry? {
    mutating get {
      var child = unsafe Dwarf_Die()
      return unsafe dwarf_child(&entry, &child) == 0 ? DebugEntry(child) : nil
    }
  }

  var sibling: DebugEntry? {
    mutating get {
      var next = unsafe Dwarf_Die()
      return unsafe dwarf_siblingof(&entry, &next) == 0 ? DebugEntry(next) : nil
    }
  }

  mutating func covers(_ address: UInt64) -> Bool { unsafe dwarf_haspc(&entry, address) == 1 }

  /// Calls `body` with each of its address ranges until that answers false.
  mutating func forEachRange(_ body: (_ start: UInt64, _ end: UInt64) -> Bool) {
    var base: Dwarf_Addr = 0
    var start: Dwarf_Addr = 0
    var end: Dwarf_Addr = 0
    var offset = 0
    repeat {
      offset = unsafe dwarf_ranges(&entry, offset, &base, &start, &end)
    } while offset > 0 && body(start, end)
  }

  /// The name that the linker sees, or the plain one, also from the entry that this one is an instance of.
  var name: ByteString? {
    mutating get {
      for attribute in [DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name] {
        var value = unsafe Dwarf_Attribute()
        guard unsafe dwarf_attr_integrate(&entry, UInt32(attribute), &value) != nil,
          let text = unsafe dwarf_formstring(&value), unsafe text[0] != 0
        else { continue }
        return unsafe ByteString(cString: text, limit: Demangler.maximumInput)
      }
      return nil
    }
  }

  mutating func number(_ attribute: Int) -> UInt64? {
    var value = unsafe Dwarf_Attribute()
    var number: Dwarf_Word = 0
    guard unsafe dwarf_attr(&entry, UInt32(attribute), &value) != nil,
      unsafe dwarf_formudata(&value, &number) == 0
    else { return nil }
    return number
  }

  mutating func string(_ attribute: Int) -> ByteString? {
    var value = unsafe Dwarf_Attribute()
    guard unsafe dwarf_attr(&entry, UInt32(attribute), &value) != nil,
      let text = unsafe dwarf_formstring(&value)
    else { return nil }
    return unsafe ByteString(cString: text, limit: 4096)
  }
}

extension DebugEntry {
  /// The root of the unit's entries where those lie in a file of their own; nil if that file could not be had. Itself
  /// for all other units.
  var entriesOfUnit: DebugEntry? {
    mutating get {
      var root = unsafe Dwarf_Die()
      var split = unsafe Dwarf_Die()
      var type: UInt8 = 0
      guard unsafe dwarf_cu_info(entry.cu, nil, &type, &root, &split, nil, nil, nil) == 0,
        Int(type) == Int(DW_UT_skeleton)
      else { return self }
      return unsafe split.addr == nil ? nil : DebugEntry(split)
    }
  }

  /// The name of the file in which its entries lie.
  var splitFileName: ByteString? {
    mutating get { string(Int(DW_AT_dwo_name)) ?? string(Int(DW_AT_GNU_dwo_name)) }
  }

  /// The row of the unit's line table that an address belongs to. None where no sequence covers it; no line where the
  /// compiler says that none of the source stands for it.
  mutating func line(at address: UInt64) -> (file: ByteString, line: Int?)? {
    var number: Int32 = 0
    guard let row = unsafe dwarf_getsrc_die(&entry, address), unsafe dwarf_lineno(row, &number) == 0,
      let name = unsafe dwarf_linesrc(row, nil, nil)
    else { return nil }
    return (unsafe fullPath(name), number > 0 ? Int(number) : nil)
  }

  /// A file of the unit by its number.
  mutating func file(_ number: UInt64) -> ByteString? {
    var files: OpaquePointer?
    var count = 0
    guard unsafe dwarf_getsrcfiles(&entry, &files, &count) == 0, number < UInt64(count),
      let name = unsafe dwarf_filesrc(files, Int(number), nil, nil)
    else { return nil }
    return unsafe fullPath(name)
  }

  /// Full as far as the unit says in which directory it was compiled. `<compiler-generated>` is no file of it.
  private mutating func fullPath(_ name: UnsafePointer<CChar>) -> ByteString {
    let name = unsafe ByteString(cString: name, limit: 4096)
    let slash = UInt8(ascii: "/")
    guard name.bytes.first != slash, name.bytes.first != UInt8(ascii: "<"),
      let directory = string(Int(DW_AT_comp_dir)), !directory.bytes.isEmpty
    else { return name }
    return ByteString(directory.bytes + (directory.bytes.last == slash ? [] : [slash]) + name.bytes)
  }
}

extension ByteString {
  /// The bytes before the NUL, no more than `limit`.
  init(cString text: UnsafePointer<CChar>, limit: Int) {
    unsafe self.init(UnsafeRawBufferPointer(start: text, count: strnlen(text, limit)))
  }
}
