// Lock words byte by byte: what is believed and what is not.

import Diagnosis
import StallCore
import Testing

@Suite struct LockWordTests {
  private func reading(_ operation: UInt64, expected: UInt64, _ words: [UInt32]) -> LockWord {
    let call = BlockedCall(
      number: SystemCallNumber.futex, arguments: InlineArguments(0x1000, operation, expected),
      stackPointer: 1,
      programCounter: 2)
    let bytes = words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    return LockWord(call, bytes: bytes, functions: [])
  }

  @Test func believesAPlausibleMutexOnly() {
    #expect(reading(128, expected: 2, [2, 0, 317, 1, 0, 0]) == .mutex(owner: 317))
    #expect(reading(128, expected: 2, [2, 1, 317, 1, 1, 0]) == .mutex(owner: 317))
    // No users, a kind that is none, a pointer where the owner should be.
    #expect(reading(128, expected: 2, [2, 0, 317, 0, 0, 0]) == .mutex(owner: nil))
    #expect(reading(128, expected: 2, [2, 0, 317, 1, 0x8000_1234, 0]) == .mutex(owner: nil))
    #expect(reading(128, expected: 2, [2, 0, 0xF7A0_1740, 0x7FFF, 0, 0]) == .mutex(owner: nil))
    #expect(reading(128, expected: 2, [2, 1, 0x17E_A740, 0x7F12, 0, 0]) == .mutex(owner: nil))
    // The word has changed meanwhile, or another value is waited on.
    #expect(reading(128, expected: 2, [0, 0, 317, 1, 0, 0]) == .other)
    #expect(reading(128, expected: 0, [0, 0, 317, 1, 0, 0]) == .other)
  }

  @Test func readsWordsThatHoldTheirOwner() {
    #expect(reading(0x86, expected: 0, [0x8000_013D, 0, 0, 0, 0, 0]) == .inheritingMutex(owner: 317))
    #expect(reading(0x80, expected: 0x8000_013D, [0x8000_013D, 0, 317, 1, 16, 0]) == .mutex(owner: 317))
    #expect(reading(0x109, expected: 317, [317, 0, 0, 0, 0, 0]) == .threadEnd(317))
    // Private waits are never those of pthread_join.
    #expect(reading(0x189, expected: 317, [317, 0, 0, 0, 0, 0]) == .other)
  }

  @Test func saysNothingOfBytesThatCouldNotBeRead() {
    #expect(reading(128, expected: 2, [2, 0, 317]) == .other)
    #expect(reading(128, expected: 2, []) == .other)
  }
}
