// Names for code that the target has made itself, where it keeps a list of it.

internal import Linux
internal import Stacks
internal import StallCore
internal import Symbols

final class GeneratedCode {
  private var map: PerfMap?
  /// How long the list was when it was read: programs only ever add to it.
  private var knownBytes = -1

  /// Reading the list of a large program takes longer than a record waits.
  private static let timeToRead = Duration.milliseconds(500)

  /// Names the frames in generated code whose list says what they are.
  func name(_ frames: inout [WalkedFrame]) {
    refresh()
    guard let map else { return }
    for index in frames.indices where frames[index].frame.isGenerated {
      let address = frames[index].frame.programCounter
      // A return address may already belong to the next function.
      let isCaller = index > 0 && !frames[index - 1].frame.isSignalFrame
      guard let (name, start) = map.name(for: isCaller ? address &- 1 : address) else { continue }
      frames[index].frame.symbol = name
      frames[index].frame.symbolOffset = address &- start
    }
  }

  private func refresh() {
    guard let file = AnalystSocket.request(.wantsPerfMap) else { return }
    let count = SealedBytes(file).count
    if count == knownBytes { return }
    let deadline = Clock.monotonicNanoseconds + Self.timeToRead.nanoseconds
    map = try? PerfMap(descriptor: file.rawDescriptor, deadline: deadline)
    knownBytes = count
  }
}
