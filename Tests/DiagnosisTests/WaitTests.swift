// Real waits of a real program, each told by its cause.

import CLinux
import Diagnosis
import Linux
import StallCore
import TestSupport
import Testing

@Suite struct WaitTests {
  @Test(arguments: [
    ("wait-mutex", SystemCallNumber.futex, CauseKind.mutex, "held by thread", Confidence.high),
    ("wait-recursive-mutex", SystemCallNumber.futex, .mutex, "\"holder\"", .high),
    ("wait-robust-mutex", SystemCallNumber.futex, .mutex, "\"holder\"", .high),
    ("wait-inheriting-mutex", SystemCallNumber.futex, .mutex, "\"holder\"", .high),
    ("wait-stdio-lock", SystemCallNumber.futex, .mutex, "does not say who holds it", .low),
    ("wait-condition", SystemCallNumber.futex, .condition, "waiting for another thread", .low),
    ("wait-semaphore", SystemCallNumber.futex, .condition, "waiting for another thread", .low),
    ("wait-join", SystemCallNumber.futex, .thread, "\"sleeper\"", .medium),
    ("wait-pipe-read", SystemCallNumber.read, .pipe, "reading from an empty pipe", .high),
    ("wait-pipe-write", SystemCallNumber.write, .pipe, "writing to a full pipe", .high),
    ("wait-receive", SystemCallNumber.recvfrom, .networkReceive, "recvfrom(", .high),
    ("wait-send", SystemCallNumber.sendto, .networkSend, "sendto(", .high),
    ("wait-sleep", SystemCallNumber.clockNanosleep, .sleep, "clock_nanosleep", .high),
    ("wait-epoll", SystemCallNumber.epollWait, .otherLoop, "epoll_wait(", .high),
    ("wait-child", SystemCallNumber.wait4, .child, "\"TestTarget\"", .high),
    ("wait-ring-of-two", SystemCallNumber.futex, .deadlock, "it and thread", .high),
    ("wait-ring-of-three", SystemCallNumber.futex, .deadlock, "a ring of 3 threads", .high),
    ("wait-ring-with-timeout", SystemCallNumber.futex, .mutex, "end by themselves", .high),
    ("wait-own-mutex", SystemCallNumber.futex, .deadlock, "that it holds itself", .high),
    ("wait-join-ring", SystemCallNumber.futex, .deadlock, "\"joined\" wait for each other", .medium),
    ("wait-chain-of-three", SystemCallNumber.futex, .mutex, "\"row-2\" (waiting for a signal: pause)", .high),
    ("wait-file-lock", SystemCallNumber.flock, .mutex, "locked", .medium),
  ])
  func tellsWhatAProgramWaitsFor(
    program: String, call: Int, kind: CauseKind, words: String, confidence: Confidence
  ) throws {
    let cause = try cause(program, call: call) { $0.kind == kind && $0.summary.contains(words) }
    #expect(cause.kind == kind)
    #expect(cause.summary.contains(words))
    #expect(cause.confidence == confidence)
    #expect(!cause.evidence.isEmpty)
    #expect(!cause.evidence.contains { $0.contains("do_syscall_64") }, "every system call has that")
  }

  /// The words of these locks do not tell their kind; the functions on the stack do.
  @Test(arguments: [
    ("wait-read-lock", "pthread_rwlock_rdlock", CauseKind.readWriteLock, "\"writer\""),
    ("wait-write-lock", "__pthread_rwlock_wrlock", .readWriteLock, "\"writer\""),
    ("wait-condition", "pthread_cond_wait", .condition, "condition"),
    ("wait-semaphore", "__new_sem_wait_slow64", .semaphore, "semaphore"),
    ("wait-join", "__pthread_clockjoin_ex", .thread, "\"sleeper\""),
  ])
  func functionsOnTheStackTellTheKindOfLock(
    program: String, function: String, kind: CauseKind, words: String
  ) throws {
    let cause = try cause(program, call: SystemCallNumber.futex, functions: [ByteString(function)])
    #expect(cause.kind == kind)
    #expect(cause.summary.contains(words))
    #expect(cause.confidence != .low)
  }

  /// `isAsExpected`: other threads of the program may still be on their way into their waits.
  private func cause(
    _ program: String, call: Int, functions: [ByteString] = [], isAsExpected: (Cause) -> Bool = { _ in true }
  ) throws -> Cause {
    let target = try TargetProcess.start(program)
    var cause: Cause?
    _ = try eventually { () throws(Errno) in
      cause = try self.cause(of: target.processID, call: call, functions: functions)
      return cause.map(isAsExpected) ?? false
    }
    return try #require(cause)
  }

  private func cause(of process: Int32, call: Int, functions: [ByteString]) throws(Errno) -> Cause? {
    guard let observation = try observe(process), case .blocked(let blocked) = observation.activity,
      blocked.number == call
    else { return nil }
    let reader = EvidenceReader(processID: process, threadID: process) { address, length in
      var bytes = [UInt8](repeating: 0, count: length)
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe clinux_process_vm_read(process, address, $0.baseAddress, $0.count)
      }
      return count == length ? bytes : nil
    }
    let evidence = reader.gather(
      observation, sleepingIn: reader.waitChannel, stallClass: .blocked, functions: functions)
    return CauseRules.cause(of: evidence)
  }

  private func observe(_ process: Int32) throws(Errno) -> ThreadObservation? {
    let text = try readPseudoFile("/proc/\(process)/task/\(process)/syscall")
    guard case .call(let number, let words, let stack, let counter) = SystemCallRecord(text.span) else {
      return nil
    }
    let arguments = InlineArguments(words[0], words[1], words[2], words[3], words[4], words[5])
    let call = BlockedCall(number: number, arguments: arguments, stackPointer: stack, programCounter: counter)
    return ThreadObservation(
      at: Instant(nanoseconds: 0), state: .sleeping, activity: .blocked(call), cpuTime: .zero,
      runQueueDelay: .zero,
      timesScheduled: 0, voluntarySwitches: 0)
  }
}
