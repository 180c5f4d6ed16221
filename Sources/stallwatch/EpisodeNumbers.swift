// The numbers of a thread's episodes: those of its detector, and those in the records of the watch.

struct EpisodeNumbers {
  /// Of the episodes that are going on.
  private var inWatch: [Int: Int] = [:]
  private var phases = 0

  /// Episodes of phases have own numbers that no detector gives.
  mutating func newPhase() -> Int {
    phases -= 1
    return phases
  }

  mutating func number(of own: Int, _ context: WatchContext) -> Int {
    let number = inWatch[own] ?? context.newEpisode()
    inWatch[own] = number
    return number
  }

  mutating func end(_ own: Int) { inWatch[own] = nil }
}
