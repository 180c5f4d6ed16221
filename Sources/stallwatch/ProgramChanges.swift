// Which other program the process runs now, told without a flood when that changes again and again.

internal import Linux
internal import StallCore

struct ProgramChanges {
  /// Seen and not told yet.
  var count = 0
  private var toldAt = Instant(nanoseconds: 0)
  /// Until the next telling; doubled by each one that finds more to tell.
  private var distance = Self.shortest

  private static let shortest = Duration.seconds(1)
  private static let longest = Duration.seconds(64)

  /// What there is to tell now, if anything.
  mutating func sentence(_ process: Int32, at now: Instant, isLast: Bool = false) -> String? {
    let since = now - toldAt
    guard count > 0, isLast || since >= distance else { return nil }
    defer {
      distance = since > distance * 2 ? Self.shortest : min(distance * 2, Self.longest)
      (count, toldAt) = (0, now)
    }
    let link = (try? readLink("/proc/\(ThreadList.witness(of: process))/exe")).map { ByteString($0).escaped }
    let program = link ?? "another program"
    if count == 1 { return "process \(process) now runs \(program)" }
    return "process \(process) became another program \(count) times or more; it now runs \(program)"
  }
}
