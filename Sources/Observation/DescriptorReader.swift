// Reads from the target's memory which descriptors a poll or select waits on.

internal import Linux
package import StallCore

package enum DescriptorReader {
  /// `struct pollfd` is 8 bytes, poll(2). More entries than a `DescriptorSet` holds are not read.
  private static let pollEntryBytes = 8
  /// FD_SETSIZE bits, select(2).
  private static let selectBytes = 128
  package static let mostBytes = DescriptorSet.capacity * pollEntryBytes

  /// Nil if the call is none of these, waits on nothing, or its memory could not be read.
  package static func descriptors(
    of call: BlockedCall, memory: inout [UInt8], read: MemoryReader
  ) -> DescriptorSet? {
    switch call.number {
    case SystemCallNumber.poll, SystemCallNumber.ppoll:
      return polled(
        at: call.arguments.first, count: UInt32(truncatingIfNeeded: call.arguments.second), &memory, read)
    case SystemCallNumber.select, SystemCallNumber.pselect6:
      return selected(call.arguments, &memory, read)
    default: return nil
    }
  }

  private static func polled(
    at address: UInt64, count: UInt32, _ memory: inout [UInt8], _ read: MemoryReader
  ) -> DescriptorSet? {
    let entries = min(Int(count), DescriptorSet.capacity)
    guard entries > 0, read(address, entries * pollEntryBytes, &memory) else { return nil }
    var set = DescriptorSet()
    for index in 0..<entries {
      let start = index * pollEntryBytes
      let value =
        UInt32(memory[start]) | UInt32(memory[start + 1]) << 8 | UInt32(memory[start + 2]) << 16
        | UInt32(memory[start + 3]) << 24
      set.insert(Int32(bitPattern: value))
    }
    return set
  }

  private static func selected(
    _ arguments: InlineArguments, _ memory: inout [UInt8], _ read: MemoryReader
  ) -> DescriptorSet? {
    let bits = min(Int(UInt32(truncatingIfNeeded: arguments.first)), selectBytes * 8)
    guard bits > 0 else { return nil }
    // The kernel reads and writes whole words.
    let bytes = (bits + 63) / 64 * 8
    var set = DescriptorSet()
    func add(_ address: UInt64) -> Bool {
      if address == 0 { return true }
      guard read(address, bytes, &memory) else { return false }
      for bit in 0..<bits where memory[bit / 8] & (1 << UInt8(bit % 8)) != 0 { set.insert(Int32(bit)) }
      return true
    }
    return add(arguments.second) && add(arguments.third) && add(arguments.fourth) ? set : nil
  }
}
