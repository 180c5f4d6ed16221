// What a capture turns into: a stack of frames that says how far it can be trusted and how it ended.

/// How registers and stack bytes were had. The raw value is the word used in records.
package enum CaptureWay: String, Sendable, Codable, CaseIterable {
  case taskIterator = "task-iterator"
  case perf
  case ptrace
  case syscallFile = "syscall-file"
}

/// How the step *into* a frame was made.
package enum FrameTrust: String, Sendable, Codable {
  /// Registers of the thread itself, or the module's unwind tables.
  case exact
  /// The rbp chain, checked: on the stack, upwards, return address in executable memory after a call.
  case framePointer = "frame-pointer"
  case scanned
  case symbolGuess = "symbol-guess"
}

/// How a walk ended. Only `root` means that the whole stack is there.
package enum WalkEnd: String, Sendable, Codable {
  case root
  case limit
  case missingBytes = "missing-bytes"
  case noRule = "no-rule"
  case loop
  /// There was nothing to walk: no registers could be had.
  case notCaptured = "not-captured"
}

/// The file an address belongs to.
package struct ModuleReference: Hashable, Sendable {
  /// Path as the kernel gives it in `maps` (without ` (deleted)`), or a name such as `[vdso]`.
  package var path: ByteString
  /// Lower-case hex of the GNU build-id note.
  package var buildID: String?
  package var isDeleted: Bool

  package init(path: ByteString, buildID: String?, isDeleted: Bool = false) {
    self.path = path
    self.buildID = buildID
    self.isDeleted = isDeleted
  }

  /// The last component of the path.
  package var name: ByteString {
    ByteString(path.bytes[((path.bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...])
  }
}

/// One frame: an address, and what is known of it.
package struct Frame: Hashable, Sendable {
  /// The address itself; for callers the return address, never one less.
  package var programCounter: UInt64
  /// What the stack pointer is when execution goes on at that address.
  package var stackPointer: UInt64?
  package var module: ModuleReference?
  /// Address in the module's own terms (as in its ELF headers), what `addr2line -e module` takes.
  package var moduleOffset: UInt64?
  /// Demangled name, without the bytes between the symbol's start and the address.
  package var symbol: ByteString?
  /// The name as it stands in the symbol table, if that differs.
  package var rawSymbol: ByteString?
  /// Further names of the same function, as people read them: aliases, and functions that were folded into one.
  package var aliases: [ByteString] = []
  /// Bytes from the symbol's start.
  package var symbolOffset: UInt64?
  package var file: ByteString?
  package var line: Int?
  package var isInlined = false
  package var isSignalFrame = false
  /// Code that the process has made itself (JIT), in memory that no program file is mapped to.
  package var isGenerated = false
  package var trust: FrameTrust

  package init(programCounter: UInt64, trust: FrameTrust) {
    self.programCounter = programCounter
    self.trust = trust
  }
}

/// One thread's stack, innermost frame first.
package struct Stack: Sendable {
  package var threadID: Int32
  package var threadName: ByteString
  package var role: ThreadRole
  package var way: CaptureWay?
  /// How long the thread was held still for this, measured around the stop.
  package var stoppedFor: Duration
  /// Callee-saved registers were not known, so the walk may end early.
  package var isApproximate = false
  /// Part of the bytes was copied after the thread went on, so the outer frames may be of a later moment.
  package var isCompleted = false
  package var end: WalkEnd
  package var frames: [Frame]
  /// What the kernel does for the thread, at the same moment.
  package var kernelPart = KernelPart.frames([])
  /// What could not be had and why, for a person; nil if nothing is missing.
  package var missing: String?
  /// For how much of its thread's time it stands; nil: it is no sample.
  package var weight: Duration?

  package init(
    threadID: Int32, threadName: ByteString, role: ThreadRole, way: CaptureWay?, stoppedFor: Duration,
    end: WalkEnd, frames: [Frame]
  ) {
    self.threadID = threadID
    self.threadName = threadName
    self.role = role
    self.way = way
    self.stoppedFor = stoppedFor
    self.end = end
    self.frames = frames
  }
}

/// What a thread is to the watch.
package enum ThreadRole: String, Sendable, Codable {
  case main
  /// The one that behaves as the loop, where the first thread does not.
  case loop
  case worker
  /// The main queue of libdispatch, which has no thread of its own, or the thread that works for it.
  case mainQueue = "main-queue"
  case lockOwner = "lock-owner"
}
