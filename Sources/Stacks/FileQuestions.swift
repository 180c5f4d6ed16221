// What the helper process is asked about files: where a filesystem does not answer, only the helper waits.

package import Linux

extension CaptureHelper {
  private static let fileDeadline = Duration.milliseconds(500)
  /// The watch thread waits for it.
  private static let factsDeadline = Duration.milliseconds(50)
  /// The same, but once, and a large program has many symbols.
  private static let symbolDeadline = Duration.milliseconds(200)
  private static let memoryDeadline = Duration.seconds(2)

  /// The file mapped at a region that the process's `maps` listed; nil if it cannot be opened.
  package mutating func openMappedFile(_ region: MemoryRegion, of process: Int32) throws(CaptureFailure)
    -> SharedFile?
  {
    try ask(.mappedFile, of: process, [region].encoded, Self.fileDeadline).file
  }

  /// A file with debug information, by its path as the process sees it.
  package mutating func openDebugFile(_ path: [UInt8], of process: Int32) throws(CaptureFailure)
    -> SharedFile?
  {
    try ask(.debugFile, of: process, path, Self.fileDeadline).file
  }

  /// The process's list of generated functions.
  package mutating func openPerfMap(of process: Int32) throws(CaptureFailure) -> SharedFile? {
    try ask(.perfMap, of: process, [], Self.fileDeadline).file
  }

  /// What the regions of one module hold in memory, each at its place in the file.
  package mutating func copyModule(_ regions: [MemoryRegion], of process: Int32) throws(CaptureFailure)
    -> SharedFile?
  {
    try ask(.copyOfModule, of: process, regions.encoded, Self.memoryDeadline).file
  }

  /// What the executable of a process is; nil if it cannot be opened.
  package mutating func executableFacts(of process: Int32) throws(CaptureFailure) -> ExecutableFacts? {
    ExecutableFacts(decoding: try ask(.executable, of: process, [], Self.factsDeadline).reply.bytes)
  }

  /// What a thread that sleeps does in the kernel, in the kernel's words; empty where that is not to be had.
  package mutating func kernelStack(ofThread threadID: Int32) throws(CaptureFailure) -> [UInt8] {
    try ask(.kernelStack, of: threadID, [], Self.factsDeadline).reply.bytes
  }

  /// Where the process keeps libdispatch's main queue; nil if that cannot be found.
  package mutating func mainQueueAddress(of process: Int32) throws(CaptureFailure) -> UInt64? {
    let bytes = try ask(.mainQueue, of: process, [], Self.symbolDeadline).reply.bytes
    return bytes.count == 8 ? bytes.littleEndian(at: 0, count: 8) : nil
  }

  private mutating func ask(
    _ kind: CaptureRequest.Kind, of process: Int32, _ bytes: [UInt8], _ deadline: Duration
  ) throws(CaptureFailure) -> Answer {
    var request = CaptureRequest(kind: kind, processID: process, threadID: process)
    request.bytes = bytes
    return try ask(request, deadline)
  }
}

extension CaptureRequest {
  /// In the helper: eight bytes, or none.
  func mainQueue() -> [UInt8] {
    guard let address = MainQueueAddress.find(in: processID) else { return [] }
    return (0..<8).map { UInt8(truncatingIfNeeded: address >> UInt64($0 * 8)) }
  }

  /// In the helper. Nil: it cannot be had.
  func openFile() -> SharedFile? {
    switch kind {
    case .mappedFile:
      guard let region = [MemoryRegion](decoding: bytes)?.first,
        let file = TargetFileAccess.mappedFile(region, of: processID)
      else { return nil }
      return SharedFile(file)
    case .debugFile:
      guard let file = TargetFileAccess.debugFile(bytes, of: processID) else { return nil }
      return SharedFile(file)
    case .perfMap:
      guard let file = TargetFileAccess.perfMap(of: processID) else { return nil }
      return SharedFile(file)
    case .copyOfModule:
      return [MemoryRegion](decoding: bytes).flatMap { TargetFileAccess.copyOfModule($0, of: processID) }
    case .thread, .threads, .memory, .maps, .commandLine, .executable, .mainQueue, .raiseWakeUp, .wakeUp,
      .kernelStack:
      return nil
    }
  }
}
