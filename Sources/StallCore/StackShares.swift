// Where the time of a thread went: the distinct stacks of its samples, each with the time that it stands for.

/// What makes two stacks the same: the functions, innermost first. Inlined calls do not count, as in fingerprints.
package struct StackPath: Hashable, Sendable {
  fileprivate let functions: [UInt64]
  /// The walk has ended at the outermost function, so there is no more.
  fileprivate let isWhole: Bool

  /// Functions without a name count by where they were called from. Of the innermost one that is not known: it counts by
  /// its file, or else each address in it would be a place of its own.
  package init(_ stack: Stack) { self.init(stack.frames, stack.end) }

  package init(_ frames: [Frame], _ end: WalkEnd) {
    functions = frames.filter { !$0.isInlined }.enumerated().map { index, frame in
      var hash = StableHash()
      hash.mix(frame.module?.name.bytes ?? [])
      hash.mix([0])
      if let symbol = frame.symbol {
        hash.mix(symbol.bytes)
      } else if index > 0, !frame.isGenerated {
        hash.mix(frame.moduleOffset ?? frame.programCounter)
      }
      return hash.value
    }
    isWhole = end == .root
  }

  /// This one was cut, and the other one goes on from there.
  fileprivate func isFront(of other: StackPath) -> Bool {
    !isWhole && !functions.isEmpty && functions.count <= other.functions.count
      && other.functions.starts(with: functions)
  }
}

/// One of the distinct stacks.
package struct StackShare: Sendable {
  package fileprivate(set) var stack: Stack
  package fileprivate(set) var weight: Duration
  /// Copies of the thread that were found to be the same.
  package fileprivate(set) var samples: Int
  fileprivate var samplesInKernel = 0

  fileprivate init(_ stack: Stack) { (self.stack, weight, samples) = (stack, .zero, 0) }

  fileprivate mutating func add(_ weight: Duration, _ samples: Int) {
    self.weight += weight
    self.samples += samples
  }

  /// So many of them were in the kernel. What the first one did there stands for all.
  fileprivate mutating func add(inKernel samples: Int, _ other: KernelPart) {
    if other.isEmpty { return }
    samplesInKernel += samples
    if stack.kernelPart.isEmpty { stack.kernelPart = other }
  }

  fileprivate mutating func add(_ other: StackShare) {
    add(other.weight, other.samples)
    add(inKernel: other.samplesInKernel, other.stack.kernelPart)
  }
}

package struct StackShares: Sendable {
  private var shares: [StackPath: StackShare] = [:]
  /// Where what was put together is found now.
  private var merged: [StackPath: StackPath] = [:]
  /// What stands for no stack that is kept: of stacks that were too many, or that nobody has seen.
  package private(set) var other: Duration = .zero
  /// Copies of the thread, also of those that are not kept.
  package private(set) var samples = 0

  /// More different ones than this are only summed up.
  package static let most = 64

  package init() {}

  /// The time that all of it stands for.
  package var weight: Duration { shares.values.reduce(other) { $0 + $1.weight } }

  /// Those that stand for any time. Where two stand for as much, the one of which more is known comes first.
  package var heaviestFirst: [StackShare] {
    shares.filter { $0.value.weight > .zero }.sorted { left, right in
      if left.value.weight != right.value.weight { return left.value.weight > right.value.weight }
      if left.key.isWhole != right.key.isWhole { return left.key.isWhole }
      return left.key.functions.lexicographicallyPrecedes(right.key.functions)
    }.map(\.value)
  }

  /// The same, each with its weight.
  package var stacks: [Stack] {
    heaviestFirst.map { share in
      var stack = share.stack
      stack.weight = share.weight
      // A page fault now and then is not what a thread does that computes.
      if share.samplesInKernel * 2 < share.samples { stack.kernelPart = .frames([]) }
      return stack
    }
  }

  /// More time, or more samples, for the stack of a path that was added before. `kernelPart`: of these samples.
  package mutating func add(
    _ weight: Duration, to path: StackPath, samples count: Int = 0, _ kernelPart: KernelPart = .frames([])
  ) {
    let place = found(path)
    samples += count
    if shares[place] == nil { other += weight }
    shares[place]?.add(weight, count)
    shares[place]?.add(inKernel: count, kernelPart)
  }

  /// Time of which no stack is known.
  package mutating func addUnknown(_ weight: Duration, samples count: Int = 0) {
    other += weight
    samples += count
  }

  /// A stack and the time that it stands for, which may be none so far. Nothing is known of an empty one.
  @discardableResult
  package mutating func add(_ stack: Stack, _ weight: Duration, samples count: Int = 1) -> StackPath {
    let path = StackPath(stack)
    samples += count
    if stack.frames.isEmpty {
      other += weight
      return path
    }
    let place = place(for: path)
    if place != path { merged[path] = place }
    if shares[place] == nil {
      guard makeRoom(for: weight) else {
        other += weight
        return path
      }
      shares[place] = StackShare(stack)
      takeFronts(of: place)
    }
    shares[place]?.add(weight, count)
    shares[place]?.add(inKernel: count, stack.kernelPart)
    return path
  }

  /// What was put together may have been put together with more since.
  private func found(_ path: StackPath) -> StackPath {
    var place = path
    while let next = merged[place] { place = next }
    return place
  }

  /// A stack that was cut is the one that goes on from there, if only one does.
  private func place(for path: StackPath) -> StackPath {
    if shares[path] != nil || path.isWhole { return path }
    let longer = shares.keys.filter { path.isFront(of: $0) }
    return longer.count == 1 ? longer[0] : path
  }

  private mutating func takeFronts(of place: StackPath) {
    for front in shares.keys where front != place && front.isFront(of: place) {
      guard let share = shares.removeValue(forKey: front) else { continue }
      shares[place]?.add(share)
      merged[front] = place
    }
  }

  /// The lightest one makes room, unless the new one is lighter.
  private mutating func makeRoom(for weight: Duration) -> Bool {
    guard shares.count >= Self.most else { return true }
    guard let lightest = shares.min(by: { $0.value.weight < $1.value.weight }),
      lightest.value.weight <= weight
    else { return false }
    other += lightest.value.weight
    shares[lightest.key] = nil
    return true
  }
}
