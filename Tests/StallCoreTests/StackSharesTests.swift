// What the samples of a stall add up to, and how far apart they are taken.

import StallCore
import Testing

/// Innermost function first, `?` for one without a name.
private func stack(_ path: String, end: WalkEnd = .root, at counter: UInt64 = 0x1000) -> Stack {
  let frames = path.split(separator: " ").enumerated().map { index, name in
    var frame = Frame(programCounter: counter + UInt64(index), trust: .exact)
    frame.module = ModuleReference(path: "/usr/bin/app", buildID: nil)
    frame.moduleOffset = frame.programCounter
    frame.symbol = name == "?" ? nil : ByteString(String(name))
    return frame
  }
  return Stack(
    threadID: 1, threadName: "app", role: .main, way: .perf, stoppedFor: .zero, end: end, frames: frames)
}

/// `innermost milliseconds/samples`, heaviest first.
private func spoken(_ shares: StackShares) -> [String] {
  shares.heaviestFirst.map {
    "\($0.stack.frames[0].symbol?.escaped ?? "?") \(Int($0.weight.milliseconds))/\($0.samples)"
  }
}

@Suite struct StackSharesTests {
  @Test func equalStacksAreOneWithAllTheirTime() {
    var shares = StackShares()
    for (path, weight) in [("read load main", 10), ("sort load main", 30), ("read load main", 40)] {
      shares.add(stack(path, at: 0x1000 + UInt64(weight)), .milliseconds(weight))
    }
    #expect(spoken(shares) == ["read 50/2", "sort 30/1"])
    #expect(shares.weight == .milliseconds(80) && shares.samples == 3 && shares.other == .zero)
    #expect(shares.stacks.map(\.weight) == [.milliseconds(50), .milliseconds(30)])
  }

  @Test func inlinedCallsMakeNoDifference() {
    var inlined = stack("parse load main")
    inlined.frames[0].isInlined = true
    var shares = StackShares()
    shares.add(stack("load main"), .milliseconds(1))
    shares.add(inlined, .milliseconds(2))
    #expect(shares.heaviestFirst.map(\.weight) == [.milliseconds(3)])
  }

  /// Where it is in a function without a name is not known, but not from where that was called.
  @Test func namelessFunctionsCountByTheirCallers() {
    var shares = StackShares()
    for counter in [0x1000, 0x1010, 0x2000] as [UInt64] {
      var nameless = stack("? ? main", at: 0x5000)
      nameless.frames[0].moduleOffset = counter
      shares.add(nameless, .milliseconds(10))
    }
    shares.add(stack("? ? main", at: 0x6000), .milliseconds(5))
    #expect(spoken(shares) == ["? 30/3", "? 5/1"])
  }

  @Test func timeThatComesLaterGoesToItsStack() {
    var shares = StackShares()
    let path = shares.add(stack("read main"), .milliseconds(10))
    shares.add(.milliseconds(90), to: path)
    #expect(spoken(shares) == ["read 100/1"])
  }

  @Test(
    "A stack that was cut is that which goes on from there, whichever came first", arguments: [true, false])
  func cutStackBelongsToTheWholeOne(_ isCutFirst: Bool) {
    let cut = stack("read load", end: .missingBytes)
    let whole = stack("read load run main")
    var shares = StackShares()
    let paths = (isCutFirst ? [cut, whole] : [whole, cut]).map { shares.add($0, .milliseconds(10)) }
    for path in paths { shares.add(.milliseconds(1), to: path) }
    #expect(spoken(shares) == ["read 22/2"])
    #expect(shares.heaviestFirst[0].stack.end == .root)
    shares.add(cut, .milliseconds(3))
    #expect(shares.weight == .milliseconds(25) && shares.other == .zero)
  }

  @Test func cutStackThatCanGoOnInTwoWaysStaysByItself() {
    var shares = StackShares()
    for path in ["read load run main", "read load open main"] { shares.add(stack(path), .milliseconds(10)) }
    shares.add(stack("read load", end: .missingBytes), .milliseconds(1))
    #expect(shares.heaviestFirst.count == 3)
  }

  @Test func wholeStackIsNoFrontOfALongerOne() {
    var shares = StackShares()
    for path in ["read main", "read main start"] { shares.add(stack(path), .milliseconds(10)) }
    #expect(shares.heaviestFirst.count == 2)
  }

  @Test func ofAsMuchTimeTheWholeStackComesFirst() {
    var shares = StackShares()
    shares.add(stack("read load", end: .missingBytes), .milliseconds(10))
    shares.add(stack("sort main"), .milliseconds(10))
    #expect(spoken(shares) == ["sort 10/1", "read 10/1"])
  }

  @Test func whatStandsForNoTimeIsNotListed() {
    var shares = StackShares()
    shares.add(stack("read main"), .zero, samples: 0)
    #expect(shares.heaviestFirst.isEmpty && shares.samples == 0)
    shares.addUnknown(.milliseconds(5))
    #expect(shares.other == .milliseconds(5) && shares.weight == .milliseconds(5))
  }

  @Test func ofTooManyTheLightestAreSummedUp() {
    var shares = StackShares()
    for index in 0..<200 { shares.add(stack("f\(index) main"), .milliseconds(10)) }
    for _ in 0..<3 { shares.add(stack("late main"), .milliseconds(10)) }
    shares.add(stack("light main"), .milliseconds(1))
    #expect(shares.heaviestFirst.count == StackShares.most)
    #expect(spoken(shares)[0] == "late 30/3")
    #expect(shares.weight == .milliseconds(2031) && shares.samples == 204)
    #expect(shares.heaviestFirst.reduce(shares.other) { $0 + $1.weight } == shares.weight)
  }

  @Test func timeOfAStackThatIsNotKeptAnyMoreIsNotLost() {
    var shares = StackShares()
    let path = shares.add(stack("first main"), .milliseconds(1))
    for index in 0..<100 { shares.add(stack("f\(index) main"), .milliseconds(10)) }
    shares.add(.milliseconds(7), to: path)
    #expect(shares.weight == .milliseconds(1008))
  }

  @Test func emptyStackIsNoStack() {
    var shares = StackShares()
    let path = shares.add(stack("", end: .notCaptured), .milliseconds(10))
    shares.add(.milliseconds(5), to: path)
    #expect(shares.heaviestFirst.isEmpty && shares.other == .milliseconds(15) && shares.samples == 1)
  }

  /// One sample each: in the kernel at this address, or nil.
  private func kernelPart(_ samples: [UInt64?]) -> KernelPart? {
    var shares = StackShares()
    for address in samples {
      var sample = stack("read load main")
      sample.kernelPart = .addresses(address.map { [$0] } ?? [])
      shares.add(sample, .milliseconds(10))
    }
    return shares.stacks.first?.kernelPart
  }

  @Test func whatTheFirstOneDidInTheKernelStandsForAll() {
    #expect(kernelPart([nil, 7, 8, 9]) == .addresses([7]))
    #expect(kernelPart([7, nil]) == .addresses([7]))
  }

  @Test func moreOftenInItsOwnCodeItIsNotInTheKernel() {
    #expect(kernelPart([7, nil, nil])?.isEmpty == true)
    #expect(kernelPart([nil, nil])?.isEmpty == true)
  }

  @Test func samplesOfTheKernelFollowTheirStack() {
    var shares = StackShares()
    var cut = stack("read load", end: .missingBytes)
    cut.kernelPart = .frames([KernelFrame(symbol: "vfs_read", symbolOffset: 1)])
    shares.add(cut, .milliseconds(10), samples: 3)
    let path = shares.add(stack("read load run main"), .milliseconds(10), samples: 2)
    #expect(shares.stacks.map(\.kernelPart) == [cut.kernelPart])
    shares.add(.milliseconds(10), to: path, samples: 2)
    #expect(shares.stacks.map(\.kernelPart.isEmpty) == [true])
    shares.add(.milliseconds(10), to: path, samples: 1, .addresses([7]))
    #expect(shares.stacks.map(\.kernelPart) == [cut.kernelPart])
  }

  @Test(
    "Samples are a hundredth of a second apart for two seconds; from then on each doubling brings as many",
    arguments: [(0, 1), (1_999, 1), (2_000, 2), (3_999, 2), (4_000, 4), (8_000, 8), (64_000, 64)])
  func samplesAreThinned(_ milliseconds: Int, _ factor: Int) {
    #expect(SampleSpacing.distance(after: .milliseconds(milliseconds)) == SampleSpacing.shortest * factor)
  }
}
