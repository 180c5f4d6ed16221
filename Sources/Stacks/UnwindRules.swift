// One step from a frame to its caller by the unwind tables of the frame's module, with libunwind as the interpreter.

internal import CLibunwind
internal import Linux
internal import StallCore

/// An interpreter of DWARF unwind rules that sees nothing but a `WalkMemory`.
///
/// libunwind can call `abort` on damaged tables, so a process that must not end does not use this on tables of strangers.
@safe final class UnwindRules {
  enum Outcome {
    case caller(Registers)
    /// The rules say that there is no caller.
    case outermost
    case noRule
    /// There is a rule, but not what it needs: stack bytes or a register.
    case missingBytes
    /// There is a rule that makes no sense.
    case badRule
    case exhausted
  }

  private let space: unw_addr_space_t?
  private var indexes: [(image: ElfImage, kind: UnwindIndex.Kind, index: UnwindIndex?)] = []

  init() {
    var accessors = unsafe unw_accessors_t(
      find_proc_info: { unsafe findRule($0, $1, $2, $3, $4) },
      put_unwind_info: { _, _, _ in },
      get_dyn_info_list_addr: { _, _, _ in failure(UNW_ENOINFO) },
      access_mem: { unsafe readMemory($1, $2, isWrite: $3 != 0, $4) },
      access_reg: { unsafe readRegister($1, $2, isWrite: $3 != 0, $4) },
      access_fpreg: { _, _, _, _, _ in failure(UNW_EBADREG) },
      resume: { _, _, _ in failure(UNW_EINVAL) },
      get_proc_name: nil)
    // libunwind copies the table.
    unsafe space = clibunwind_create(&accessors)
  }

  deinit { if let space = unsafe space { unsafe clibunwind_destroy(space) } }

  /// `lookup` is the address whose rule applies: the registers' pc, or one less for a return address, which may
  /// already belong to the next function.
  func step(from registers: Registers, lookup: UInt64, memory: WalkMemory) -> Outcome {
    let query = RuleQuery(registers: registers, lookup: lookup, memory: memory, index: index(of:_:))
    memory.missedBytes = false
    let outcome = withExtendedLifetime(query) { step(query) }
    // libunwind guesses where it has no rule, and may call the guess a success.
    if memory.readsLeft == 0 { return .exhausted }
    return query.foundNoRule ? .noRule : outcome
  }

  /// Made once for a file; a few are kept, since a process seldom has more than one without a table.
  private func index(of image: ElfImage, _ kind: UnwindIndex.Kind) -> UnwindIndex? {
    if let known = indexes.first(where: { $0.image === image && $0.kind == kind }) { return known.index }
    if indexes.count == 8 { indexes.removeFirst() }
    indexes.append((image, kind, UnwindIndex(image, kind)))
    return indexes.last?.index
  }

  private func step(_ query: RuleQuery) -> Outcome {
    guard let space = unsafe space else { return .noRule }
    var cursor = unw_cursor_t()
    var result = unsafe clibunwind_begin(&cursor, space, Unmanaged.passUnretained(query).toOpaque())
    if result == 0 { result = unsafe clibunwind_step(&cursor) }
    if result < 0 { return query.memory.missedBytes || query.missedRegister ? .missingBytes : .badRule }
    if result == 0 { return unsafe clibunwind_lost_frame_pointer(&cursor) == 0 ? .outermost : .badRule }
    var caller = Registers()
    for number in Registers.keptByCalls {
      var value: unw_word_t = 0
      if unsafe clibunwind_register(&cursor, Int32(number), &value) == 0 { caller[number] = UInt64(value) }
    }
    return .caller(caller)
  }
}

extension Registers {
  /// rbx, rbp, rsp, r12–r15 (psABI figure 3.4), and the pc. The others are the callee's to change, so the caller's
  /// values are not known.
  fileprivate static let keptByCalls = [3, 6, 7, 12, 13, 14, 15, 16]
}

private func failure(_ code: unw_error_t) -> Int32 { -Int32(code.rawValue) }

private func query(_ argument: UnsafeMutableRawPointer?) -> RuleQuery? {
  unsafe argument.map { unsafe Unmanaged<RuleQuery>.fromOpaque($0).takeUnretainedValue() }
}

private func findRule(
  _ space: unw_addr_space_t?, _ pc: unw_word_t, _ found: UnsafeMutablePointer<unw_proc_info_t>?,
  _ needRules: Int32,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard let query = unsafe query(argument) else { return failure(UNW_EINVAL) }
  var result = failure(UNW_ENOINFO)
  for kind in [UnwindIndex.Kind.loaded, .debug] where result < 0 {
    guard let table = query.table(for: pc, kind) else { continue }
    result = unsafe clibunwind_search(
      space, pc, table.base, RuleTable.madeAddress, 1, found, needRules, argument)
  }
  if result < 0 { query.foundNoRule = true }
  return result
}

private func readMemory(
  _ address: unw_word_t, _ value: UnsafeMutablePointer<unw_word_t>?, isWrite: Bool,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard !isWrite, let word = unsafe query(argument)?.word(at: address) else {
    return failure(UNW_EINVAL)
  }
  unsafe value?.pointee = word
  return 0
}

private func readRegister(
  _ number: unw_regnum_t, _ value: UnsafeMutablePointer<unw_word_t>?, isWrite: Bool,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  guard !isWrite, 0..<Int32(Registers.count) ~= number, let query = unsafe query(argument) else {
    return failure(UNW_EBADREG)
  }
  let known = number == Registers.programCounter ? query.lookup : query.registers[Int(number)]
  guard let known else {
    query.missedRegister = true
    return failure(UNW_EBADREG)
  }
  unsafe value?.pointee = known
  return 0
}
