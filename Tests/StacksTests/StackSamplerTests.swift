// Samples that come by themselves, and their outer frames from a copy of another moment.

import Glibc
import Linux
import StallCore
import Testing
import TestSupport

@testable import Stacks

@Suite struct StackSamplerTests {
  private func startSampling(_ target: borrowing TargetProcess) throws -> StackSampler {
    try StackSampler(thread: target.processID, distance: .milliseconds(1), looksApart: .milliseconds(10))
  }

  /// Many times as many as the kernel has room for, so that records lie across the end of the memory.
  @Test(.enabled(if: isSamplingAllowed)) func samplesComeInTheOrderOfTime() throws {
    let target = try TargetProcess.start("spin")
    var sampler = try startSampling(target)
    var samples: [StackSample] = []
    let hasCome = eventually {
      samples += sampler.take().samples
      return samples.count >= 150
    }
    #expect(hasCome)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.at < $1.at })
    #expect(samples.allSatisfy { $0.registers.programCounter != 0 && $0.registers.stackPointer != 0 })
    #expect(samples.allSatisfy { $0.byteCount > 0 && $0.byteCount <= Int(StackSampler.stackBytes) })
  }

  @Test(.enabled(if: isSamplingAllowed)) func samplesWithoutRoomAreCounted() throws {
    let target = try TargetProcess.start("spin")
    var sampler = try startSampling(target)
    var lost = 0
    let hasCome = eventually {
      // The kernel tells of a loss when it has room again.
      Clock.pause(nanoseconds: 200_000_000)
      lost += sampler.take().lost
      return lost > 0
    }
    #expect(hasCome)
  }

  @Test(.enabled(if: isSamplingAllowed)) func threadThatSleepsGivesNoSamples() throws {
    let target = try TargetProcess.start("idle", "epoll")
    var sampler = try startSampling(target)
    let hasCome = eventually {
      _ = sampler.take()
      Clock.pause(nanoseconds: 20_000_000)
      return sampler.take().count == 0
    }
    #expect(hasCome)
  }

  @Test(.enabled(if: isSamplingAllowed)) func distanceCanBeMadeLonger() throws {
    let target = try TargetProcess.start("spin")
    var sampler = try startSampling(target)
    let isRunning = eventually { sampler.take().count > 0 }
    #expect(isRunning)
    sampler.setDistance(.seconds(3_600))
    let distance = sampler.distance
    #expect(distance == .seconds(3_600))
    let hasCome = eventually {
      _ = sampler.take()
      Clock.pause(nanoseconds: 50_000_000)
      return sampler.take().count == 0
    }
    #expect(hasCome)
  }

  private static let stackPointer: UInt64 = 0x7000_0000
  private static let cut = (0..<8192).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 256) }

  private static func sample(_ stack: [UInt8]) -> StackSample {
    var registers = Registers()
    registers[Registers.stackPointer] = stackPointer
    return StackSample(at: Instant(nanoseconds: 5), registers: registers, stack: stack)
  }

  /// A copy of the stack that begins so far below the sample's and goes on for a kilobyte after it.
  private static func base(_ distance: Int, overlap: [UInt8] = cut) -> ThreadSnapshot {
    let bytes = [UInt8](repeating: 1, count: distance) + overlap + [UInt8](repeating: 2, count: 1024)
    return ThreadSnapshot(
      threadID: 1, way: .ptrace, registers: Registers(),
      pieces: [
        StackPiece(address: stackPointer - UInt64(distance), bytes: Array(bytes.prefix(distance + 8000))),
        StackPiece(
          address: stackPointer + 8000, bytes: Array(bytes.dropFirst(distance + 8000)), isLater: true),
      ], stoppedFor: .zero, takenAt: Instant(nanoseconds: 0))
  }

  @Test(arguments: [0, 64]) func outerFramesComeFromACopyOfTheSameStack(_ distance: Int) throws {
    let capture = try RawCapture(Self.sample(Self.cut), threadID: 1, completedBy: Self.base(distance))
    let snapshot = try capture.snapshot()
    #expect(snapshot.stackAddress == Self.stackPointer && snapshot.stackBytes == Self.cut)
    let rest = try #require(snapshot.morePieces.first)
    #expect(rest.address == Self.stackPointer + 8192 && rest.isLater)
    #expect(rest.bytes == [UInt8](repeating: 2, count: 1024))
  }

  @Test func copyThatShowsAnotherStackThereIsNotUsed() throws {
    var other = Self.cut
    other[8100] ^= 1
    let capture = try RawCapture(
      Self.sample(Self.cut), threadID: 1, completedBy: Self.base(0, overlap: other))
    #expect(try capture.snapshot().morePieces.isEmpty)
  }

  @Test func stackThatWasCopiedWholeNeedsNoOther() throws {
    let short = Array(Self.cut.prefix(4096))
    let capture = try RawCapture(Self.sample(short), threadID: 1, completedBy: Self.base(0))
    #expect(try capture.snapshot().morePieces.isEmpty)
    #expect(capture.way == .perf && capture.takenAt == Instant(nanoseconds: 5))
  }
}
