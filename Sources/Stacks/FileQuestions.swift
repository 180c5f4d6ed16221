// What the helper process is asked about files: where a filesystem does not answer, only the helper waits.

package import Linux

extension CaptureHelper {
  private static let fileDeadline = Duration.milliseconds(500)
  /// The watch thread waits for it.
  private static let factsDeadline = Duration.milliseconds(50)
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

  private mutating func ask(
    _ kind: CaptureRequest.Kind, of process: Int32, _ bytes: [UInt8], _ deadline: Duration
  ) throws(CaptureFailure) -> Answer {
    var request = CaptureRequest(kind: kind, processID: process, threadID: process)
    request.bytes = bytes
    return try ask(request, deadline)
  }
}

extension CaptureRequest {
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
    case .thread, .memory, .maps, .commandLine, .executable: return nil
    }
  }
}
