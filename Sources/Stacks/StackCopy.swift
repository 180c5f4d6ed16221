// Copying the bytes of a stack from its pointer upwards.

internal import Linux

/// Where the copied bytes came from and how many there are; the bytes are at the start of the buffer.
struct StackCopy {
  var address: UInt64
  var count: Int

  /// The part below the stack pointer that a leaf function may use (System V psABI, 3.2.2, "red zone").
  private static let redZone: UInt64 = 128
  private static let pageMask: UInt64 = 4095

  /// One read of at most `limit` bytes; fewer where the mapping ends, none where there is no memory at all.
  init(from stackPointer: UInt64, memory: ProcessMemory, buffer: borrowing CopyBuffer, limit: Int) {
    let start = stackPointer &- StackCopy.redZone
    address = start
    count = (try? unsafe memory.read(at: start, into: buffer.prefix(limit))) ?? 0
    let page = stackPointer & ~StackCopy.pageMask
    // The red zone may lie in a page that is not there.
    if count == 0, start & ~StackCopy.pageMask != page {
      address = page
      count = (try? unsafe memory.read(at: page, into: buffer.prefix(limit))) ?? 0
    }
  }
}
