// The place that stack bytes are copied to while a thread stands still.

/// Reused memory. The pages that are written while a thread stands still are there already, so that such a copy faults on
/// our side never; those for the rest of a deep stack come when they are needed.
@safe struct CopyBuffer: ~Copyable {
  /// A stack of 1 MB, what lies above its outermost frame, and room for a second look at its top.
  static let capacity = 1 << 20 + 1 << 18
  private static let prepared = 1 << 18
  private let bytes: UnsafeMutableRawBufferPointer

  init() {
    unsafe bytes = .allocate(byteCount: CopyBuffer.capacity, alignment: 4096)
    let first = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<CopyBuffer.prepared])
    _ = unsafe first.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { unsafe bytes.deallocate() }

  func prefix(_ count: Int) -> UnsafeMutableRawBufferPointer { unsafe bytes(after: 0, count) }

  /// At most `count` bytes behind the first `start`.
  func bytes(after start: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
    let start = max(0, min(start, CopyBuffer.capacity))
    let end = start + max(0, min(count, CopyBuffer.capacity - start))
    return unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end])
  }
}
