// The records that a perf event leaves in its ring, perf_event_open(2), "Ring-buffer layout".

/// User registers of an x86-64 thread as perf numbers them (arch/x86/include/uapi/asm/perf_regs.h).
package struct PerfRegisters: Sendable {
  package enum Register: Int, Sendable, CaseIterable {
    case rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip
    case r8 = 16
    case r9, r10, r11, r12, r13, r14, r15
  }

  private static let count = 24
  private var values = InlineArray<24, UInt64>(repeating: 0)
  private var known: UInt64 = 0

  package init() {}

  package subscript(register: Register) -> UInt64? {
    known & 1 << UInt64(register.rawValue) == 0 ? nil : values[register.rawValue]
  }

  /// One word each for the registers of the mask, in the order of their numbers. Nil if there are not so many.
  fileprivate init?(_ data: RawSpan, at position: inout Int, mask: UInt64) {
    for number in 0..<UInt64(PerfRegisters.count) where mask & 1 << number != 0 {
      guard let value = data.word(at: &position) else { return nil }
      values[Int(number)] = value
    }
    known = mask
  }

  package static func mask(_ registers: [Register]) -> UInt64 {
    registers.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
  }
}

/// What the samples of an event hold beside the time.
package struct PerfSampleLayout: Hashable, Sendable {
  package var userRegisters: UInt64
  package var stackBytes: UInt32
  /// Samples come from inside of the kernel as well, and hold its part of the stack. That needs more rights.
  package var includesKernel = false

  package init(userRegisters: [PerfRegisters.Register], stackBytes: UInt32 = 0) {
    self.userRegisters = PerfRegisters.mask(userRegisters)
    self.stackBytes = stackBytes
  }
}

package struct PerfSample: Sendable {
  package var atNanoseconds: Int64
  /// Of a thread that was in the kernel: where it was, and where each function there returns to. That of an interrupt that
  /// was being served at the time is part of it.
  package var kernelAddresses: [UInt64] = []
  /// None of a thread that runs no 64-bit code.
  package var registers = PerfRegisters()
  /// Where the bytes from the stack pointer upwards lie in the data.
  package var stack = 0..<0
}

package enum PerfRecord: Sendable {
  case sample(PerfSample)
  /// From here on something is missing: PERF_RECORD_THROTTLE, or what is no sample of this layout.
  case gap
  /// So many records found no room: PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES.
  case lost(UInt64)
  /// Of no interest here.
  case other

  private static let headerBytes = 8
  /// PERF_RECORD_LOST, _THROTTLE, _SAMPLE, _LOST_SAMPLES (<linux/perf_event.h>).
  private static let (lostType, throttleType, sampleType, lostSamplesType): (UInt32, UInt32, UInt32, UInt32) =
    (2, 5, 9, 13)

  /// The record at the position, which moves behind it; nil at the end of the data and where it makes no sense.
  package static func next(in data: RawSpan, at position: inout Int, _ layout: PerfSampleLayout)
    -> PerfRecord?
  {
    guard position >= 0, data.byteCount - position >= headerBytes else { return nil }
    let type = unsafe data.unsafeLoadUnaligned(fromByteOffset: position, as: UInt32.self)
    let size = Int(unsafe data.unsafeLoadUnaligned(fromByteOffset: position + 6, as: UInt16.self))
    guard size >= headerBytes, data.byteCount - position >= size else { return nil }
    let body = position + headerBytes..<position + size
    position += size
    switch type {
    case sampleType: return PerfSample(data, body, layout).map { .sample($0) } ?? .gap
    case throttleType: return .gap
    // The first word of the former is the number of the event.
    case lostType: return lost(data, body.dropFirst(8))
    case lostSamplesType: return lost(data, body)
    default: return .other
    }
  }

  private static func lost(_ data: RawSpan, _ body: Range<Int>) -> PerfRecord {
    var position = body.lowerBound
    return data.extracting(0..<body.upperBound).word(at: &position).map { .lost($0) } ?? .gap
  }
}

extension PerfSample {
  /// PERF_SAMPLE_REGS_ABI_64.
  private static let wideRegisters: UInt64 = 2
  /// Addresses of the kernel, and behind them the marks that say what follows (`PERF_CONTEXT_…`).
  private static let kernelHalf: UInt64 = 1 << 63
  private static let (firstMark, kernelMark): (UInt64, UInt64) = (0 &- 4095, 0 &- 128)
  /// The kernel notes no more, unless `kernel.perf_event_max_stack` was raised.
  private static let mostKernelAddresses = 127

  /// The fields of a sample come in the order of the bits of `sample_type`: time, call chain, registers, stack.
  fileprivate init?(_ data: RawSpan, _ body: Range<Int>, _ layout: PerfSampleLayout) {
    let record = data.extracting(0..<body.upperBound)
    var position = body.lowerBound
    guard let time = record.word(at: &position), let at = Int64(exactly: time) else { return nil }
    atNanoseconds = at
    if layout.includesKernel {
      guard let addresses = Self.kernelAddresses(record, at: &position) else { return nil }
      kernelAddresses = addresses
    }
    if layout.userRegisters != 0 {
      guard let abi = record.word(at: &position) else { return nil }
      if abi != 0 {
        guard let all = PerfRegisters(record, at: &position, mask: layout.userRegisters) else { return nil }
        if abi == Self.wideRegisters { registers = all }
      }
    }
    if layout.stackBytes != 0 {
      guard let range = Self.stack(record, at: &position) else { return nil }
      stack = range
    }
  }

  /// The number of words, and the words: marks, and the addresses that each of them is about.
  private static func kernelAddresses(_ record: RawSpan, at position: inout Int) -> [UInt64]? {
    guard let word = record.word(at: &position), word <= (record.byteCount - position) / 8 else { return nil }
    var (addresses, isKernel): ([UInt64], Bool) = ([], false)
    for _ in 0..<Int(word) {
      guard let entry = record.word(at: &position) else { return nil }
      if entry >= firstMark {
        isKernel = entry == kernelMark
      } else if isKernel, entry >= kernelHalf, addresses.count < mostKernelAddresses {
        addresses.append(entry)
      }
    }
    return addresses
  }

  /// The size of the window, the window, and how much of it was filled; only the size, 0, where there is no stack.
  private static func stack(_ record: RawSpan, at position: inout Int) -> Range<Int>? {
    guard let word = record.word(at: &position), let size = Int(exactly: word),
      size <= record.byteCount - position
    else { return nil }
    let start = position
    position += size
    if size == 0 { return start..<start }
    guard let filled = record.word(at: &position), filled <= word else { return nil }
    return start..<start + Int(filled)
  }
}

extension RawSpan {
  fileprivate func word(at position: inout Int) -> UInt64? {
    guard position >= 0, byteCount - position >= 8 else { return nil }
    defer { position += 8 }
    return unsafe unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
  }
}
