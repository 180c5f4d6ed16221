// Where one mapping of another process ends, without reading the list of all of them where the kernel allows.

internal import CLinux

/// The first address behind the mapping that holds an address; nil if nothing is mapped there, or if that cannot be told.
///
/// Kernels from 6.11 on answer for one address (PROCMAP_QUERY). Older ones print the list; of that only the first megabyte
/// is read, some ten thousand mappings.
package func endOfMapping(holding address: UInt64, ofThread threadID: Int32) -> UInt64? {
  guard let maps = try? FileDescriptor.open("/proc/\(threadID)/maps") else { return nil }
  var end: UInt64 = 0
  let descriptor = maps.rawValue
  do {
    _ = try systemCall { unsafe clinux_mapping_end(descriptor, address, &end) }
    return end
  } catch {
    guard error != .noSuchFile, let text = try? maps.readAll(limit: 1 << 20) else { return nil }
    return MemoryMap(parsing: text).region(containing: address)?.end
  }
}
