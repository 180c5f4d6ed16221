// Samples one followed thread from when it may be stalled until that is over.

internal import Linux
internal import Reports
internal import Stacks
internal import StallCore

/// While the thread runs, an event of the kernel takes samples by itself and looks take them out. While it is blocked one
/// copy stands for all the time in which it did not move. Nothing here ever stops the thread.
struct StackSampling: ~Copyable {
  private var clock: SampleClock?
  private var sampler: StackSampler?
  private var refusals = RetrySpacing()
  private var began = Instant(nanoseconds: 0)
  /// The block in which the last look has found the thread, and whether a copy of it is on its way.
  private var block: (number: Int, isCopied: Bool)?
  private var lastNumber = 0
  private var nextCopy = Instant(nanoseconds: 0)
  /// What nobody was told yet.
  private var untold: SampledStretch?
  /// The stall that the report thread knows of, by its own number.
  private(set) var stall: Int?

  /// Before a stall is certain, samples wait here.
  private static let mostUntoldBytes = 4 << 20

  var isOn: Bool { clock != nil }

  /// Takes in a look at a thread that is stalled or may be. `end`: the stall was over by then.
  mutating func look(
    _ look: ThreadObservation, _ thread: ThreadRecord, blockedSince: Instant?, spellStart: Instant?,
    looksApart: Duration, end: Instant? = nil
  ) {
    var stretch = untold.take() ?? SampledStretch(thread)
    defer { untold = stretch }
    guard var clock = self.clock.take() else {
      begin(look, blockedSince, spellStart, &stretch)
      if end == nil, !look.isBlocked { startSampler(thread.threadID, looksApart, at: look.at) }
      return
    }
    let batch = takeSamples()
    let isSame = clock.isInSameBlock(look)
    let time = clock.advance(
      to: look, blockedSince: blockedSince, samples: batch.count, lost: batch.lost, until: end)
    self.clock = clock
    if batch.count > 0 { stretch.runs.append(SampledStretch.Run(batch: batch, eachSample: time.eachSample)) }
    stretch.unseen += time.unseen
    if time.before > .zero { add(time.before, &stretch) }
    if !look.isBlocked { block = nil } else if !isSame || block == nil { block = newBlock() }
    if time.here > .zero { add(time.here, &stretch) }
    if stretch.byteCount > Self.mostUntoldBytes { stretch.dropRuns() }
    if end != nil { return }
    sampler?.setDistance(SampleSpacing.distance(after: look.at - began))
    if !isSame { startSampler(thread.threadID, looksApart, at: look.at) }
  }

  private mutating func begin(
    _ look: ThreadObservation, _ blockedSince: Instant?, _ spellStart: Instant?,
    _ stretch: inout SampledStretch
  ) {
    (clock, began) = (SampleClock(from: look), look.at)
    guard look.isBlocked else { return }
    block = newBlock()
    // A block is a proof of where it was before anybody looked.
    if let blockedSince, let spellStart { add(look.at - max(blockedSince, spellStart), &stretch) }
  }

  private mutating func newBlock() -> (number: Int, isCopied: Bool) {
    lastNumber += 1
    return (lastNumber, false)
  }

  private func add(_ weight: Duration, _ stretch: inout SampledStretch) {
    if let block { stretch.add(weight, toCopy: block.number) } else { stretch.unseen += weight }
  }

  private mutating func takeSamples() -> SampleBatch { sampler?.take() ?? SampleBatch() }

  private mutating func startSampler(_ thread: Int32, _ looksApart: Duration, at now: Instant) {
    guard sampler == nil, refusals.isDue(at: now) else { return }
    do throws(Errno) {
      sampler = try StackSampler(
        thread: thread, distance: SampleSpacing.distance(after: now - began), looksApart: looksApart)
      refusals = RetrySpacing()
    } catch { refusals.refuse(at: now) }
  }

  /// The thread is in a block that was not copied yet, and it is time for a copy.
  func wantsCopy(at now: Instant) -> Bool {
    guard let block else { return false }
    return !block.isCopied && now >= nextCopy
  }

  /// A copy of the thread at the last look gets its number, and with it its time. One of a running thread stands for what
  /// was not sampled; where samples come by themselves it needs no time.
  mutating func number(_ copy: inout CapturedThread, _ look: ThreadObservation) {
    guard isOn else { return }
    nextCopy = look.at + SampleSpacing.distance(after: look.at - began)
    guard case .success = copy.result else { return giveUpBlock() }
    if let known = block {
      copy.sample = known.number
      block?.isCopied = true
    } else if sampler == nil, let weight = clock?.takeUnsampled(), weight > .zero {
      lastNumber += 1
      copy.sample = lastNumber
      untold?.add(weight, toCopy: lastNumber)
    }
  }

  /// What cannot be copied now is not tried for at each look.
  private mutating func giveUpBlock() { block?.isCopied = true }

  /// A copy that nothing but a share of the time is wanted for.
  mutating func take(_ copy: CapturedThread) {
    if copy.sample != nil { untold?.copies.append(copy) }
  }

  /// What was seen right after a capture that stopped the thread.
  mutating func absorb(_ look: ThreadObservation) { clock?.absorb(look) }

  /// What the report thread is to be told of this stall now; nil where that is nothing.
  mutating func tell(of stall: Int) -> SampledStretch? {
    self.stall = stall
    guard let stretch = untold, !stretch.isEmpty else { return nil }
    untold = SampledStretch(stretch.thread)
    return stretch
  }

  var hasUntoldStacks: Bool { untold?.hasStacks ?? false }

  /// What has not been sampled by now will not be.
  mutating func finish() {
    guard let rest = clock?.takeUnsampled(), rest > .zero else { return }
    untold?.unseen += rest
  }

  /// The thread is not stalled, or not any more.
  mutating func end() {
    (clock, block, untold, stall) = (nil, nil, nil, nil)
    sampler = nil
  }
}
