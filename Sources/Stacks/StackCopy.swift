// Copying the bytes of a stack from its pointer upwards.

internal import Glibc
internal import Linux

/// Copies what one thread's frames lie in. The bytes of the layout are at the start of the buffer.
///
/// The parts that must be of one moment come first, at most `limit` bytes each; what is behind them is as far away as
/// it is long, and can be had when the thread runs again.
struct StackCopy {
  private(set) var layout = StackLayout()

  /// The part below the stack pointer that a leaf function may use (System V psABI, 3.2.2, "red zone").
  private static let redZone: UInt64 = 128
  private static let pageSize: UInt64 = 4096

  /// Copies the stack in use; if that is a stack for signal handlers alone, also the one that the signal interrupted.
  init(from stackPointer: UInt64, memory: ProcessMemory, buffer: borrowing CopyBuffer, limit: Int) {
    (layout.topAddress, layout.topCount) = unsafe StackCopy.read(
      from: stackPointer, memory, into: buffer.prefix(limit))
    addInterrupted(memory, buffer, limit)
  }

  /// The stack in use was copied to the start of the buffer by somebody else; the thread runs on meanwhile.
  init(
    of stackPointer: UInt64, copied count: Int, memory: ProcessMemory, buffer: borrowing CopyBuffer,
    limit: Int
  ) {
    (layout.topAddress, layout.topCount) = (stackPointer, count)
    addInterrupted(memory, buffer, limit)
    layout.isInterruptedLater = layout.interruptedCount > 0
  }

  private mutating func addInterrupted(
    _ memory: ProcessMemory, _ buffer: borrowing CopyBuffer, _ limit: Int
  ) {
    let top = unsafe UnsafeRawBufferPointer(buffer.prefix(layout.topCount))
    if let interrupted = unsafe SignalFrame.otherStackPointer(in: top, at: layout.topAddress) {
      (layout.interruptedAddress, layout.interruptedCount) = unsafe StackCopy.read(
        from: interrupted, memory, into: buffer.bytes(after: layout.topCount, limit))
    }
  }

  /// There may be more behind the last piece.
  func isCut(at limit: Int) -> Bool {
    layout.interruptedCount > 0 ? layout.interruptedCount == limit : layout.topCount == limit
  }

  /// Goes on behind the last piece, as far as the mapping and the buffer reach; what lies behind a mapping is no stack.
  mutating func addRest(
    ofThread threadID: Int32, memory: ProcessMemory, buffer: borrowing CopyBuffer, isLater: Bool
  ) {
    let piece = layout.interruptedCount > 0 ? layout.interruptedAddress : layout.topAddress
    guard let end = endOfMapping(holding: piece &+ StackCopy.redZone, ofThread: threadID),
      end > layout.restAddress
    else { return }
    let room = UInt64(max(0, CopyBuffer.capacity - layout.count - layout.topCount))
    let space = unsafe buffer.bytes(after: layout.count, Int(min(end - layout.restAddress, room)))
    layout.restCount = (try? unsafe memory.read(at: layout.restAddress, into: space)) ?? 0
    layout.isRestLater = isLater
  }

  /// The stack in use still holds the same bytes.
  func isTopUnchanged(memory: ProcessMemory, buffer: borrowing CopyBuffer) -> Bool {
    let again = unsafe buffer.bytes(after: layout.count, layout.topCount)
    guard let copied = unsafe buffer.prefix(layout.topCount).baseAddress,
      let now = again.baseAddress, again.count == layout.topCount,
      (try? unsafe memory.read(at: layout.topAddress, into: again)) == layout.topCount
    else { return false }
    return unsafe memcmp(now, copied, layout.topCount) == 0
  }

  mutating func restIsOfTheSameMoment() { layout.isRestLater = false }

  /// One read; fewer bytes where the mapping ends, none where there is no memory at all. The red zone may lie in a page
  /// that is not there, and after an overflow so may the stack pointer.
  private static func read(
    from stackPointer: UInt64, _ memory: ProcessMemory, into buffer: UnsafeMutableRawBufferPointer
  ) -> (UInt64, Int) {
    let start = stackPointer &- redZone
    let page = stackPointer & ~(pageSize - 1)
    for address in [start, page, page &+ pageSize] where address >= start {
      let count = (try? unsafe memory.read(at: address, into: buffer)) ?? 0
      if count > 0 { return (address, count) }
    }
    return (start, 0)
  }
}
