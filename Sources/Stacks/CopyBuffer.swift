// The place that stack bytes are copied to while a thread stands still.

/// Reused memory whose pages are there already, so that a copy faults on our side never.
@safe struct CopyBuffer: ~Copyable {
  static let capacity = 1 << 20
  private let bytes: UnsafeMutableRawBufferPointer

  init() {
    unsafe bytes = .allocate(byteCount: CopyBuffer.capacity, alignment: 4096)
    _ = unsafe bytes.initializeMemory(as: UInt8.self, repeating: 1)
  }

  deinit { unsafe bytes.deallocate() }

  func prefix(_ count: Int) -> UnsafeMutableRawBufferPointer {
    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<max(0, min(count, CopyBuffer.capacity))])
  }
}
