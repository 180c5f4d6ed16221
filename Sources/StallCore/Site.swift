// A blocking wait, told apart from others by what is waited on: the identity of an event loop as seen from outside.

/// What kind of wait a system call is, and how likely an event loop is to park in it.
package enum WaitKind: String, Sendable {
  case epoll, poll, ring
  case accept, input, message, children, signal
  case futex, sleep
  /// In a kernel function that is not known, or serves waits of several kinds.
  case other
  /// No wait of a thread: libdispatch's main queue has nobody who works for it.
  case mainQueue
  /// That it sleeps, until something happens or a signal comes, is all that can be seen.
  case unseen

  /// Waits on many things at once are made for loops (a poll also for one answer); sleeps and locks are what loops
  /// avoid.
  package var rank: Int {
    switch self {
    case .epoll, .ring, .mainQueue: 4
    case .poll: 3
    case .accept, .input, .message, .children, .signal: 2
    case .futex, .sleep, .other, .unseen: 1
    }
  }
}

/// The thing an event loop waits on.
package enum Multiplexer: Hashable, Sendable {
  case epoll(descriptor: Int32)
  /// A poll or select. Its descriptors are in `Site.descriptors`, since they come and go.
  case descriptorSet
  /// A poll or select whose descriptors could not be read: weaker, known by where the call is made.
  case unreadSet(stackPointer: UInt64, programCounter: UInt64)
  /// With the registered-ring flag the number is an index, not a descriptor.
  case ring(descriptor: Int32, isIndex: Bool)
  case descriptor(Int32)
  case queue(call: Int, identifier: UInt64)
  case children
  /// A wait without an object of its own: known by where the call is made. (A futex may be another one in each wait, as
  /// Python's are; `Site.futex` says more.)
  case place(kind: WaitKind, stackPointer: UInt64, programCounter: UInt64)
  /// The call may not be seen: weaker still, all waits of a kind are one.
  case anyOf(WaitKind)
}

/// One blocking wait of one thread.
package struct Site: Hashable, Sendable {
  package var kind: WaitKind
  package var multiplexer: Multiplexer
  /// For `.descriptorSet`: what this one call waits on.
  package var descriptors: DescriptorSet?
  /// For a futex: the word waited on, or the pair of words that a condition alternates between.
  package var futex: UInt64?
  package var stackPointer: UInt64
  package var programCounter: UInt64
  /// The call may end by itself (a poll with a timeout). Known only for calls that tell it in a register.
  package var hasTimeout: Bool

  /// Nil for calls that are not waits for something to happen (disk, output, unknown calls).
  package init?(_ call: BlockedCall, descriptors: DescriptorSet?) {
    guard let (kind, multiplexer) = Self.identity(of: call, descriptors: descriptors) else { return nil }
    self.kind = kind
    self.multiplexer = multiplexer
    self.descriptors = multiplexer == .descriptorSet ? descriptors : nil
    (stackPointer, programCounter) = (call.stackPointer, call.programCounter)
    futex = Self.futex(of: call)
    let timeout = Int32(truncatingIfNeeded: call.arguments.third)
    hasTimeout = call.number == SystemCallNumber.poll && timeout >= 0
  }

  /// A wait of which the kernel tells only the kind. Whether it has a timeout is not known.
  package init(_ kind: WaitKind) {
    self.kind = kind
    multiplexer = .anyOf(kind)
    (stackPointer, programCounter) = (0, 0)
    hasTimeout = kind == .poll
  }

  /// Neither what it waits on nor where in the stack it is made is known.
  package var isKnownByKind: Bool {
    if case .anyOf = multiplexer { true } else { false }
  }

  /// A poll or select whose descriptors could not be read.
  package var isUnread: Bool {
    if case .unreadSet = multiplexer { true } else { false }
  }

  /// Two such waits of one kind are on the same thing or they are not, wherever they are made.
  package var isOnKnownObject: Bool {
    switch multiplexer {
    case .epoll, .descriptorSet, .descriptor: true
    case .unreadSet, .ring, .queue, .children, .place, .anyOf: false
    }
  }

  private static func identity(of call: BlockedCall, descriptors: DescriptorSet?) -> (WaitKind, Multiplexer)?
  {
    typealias Number = SystemCallNumber
    let descriptor = Int32(truncatingIfNeeded: call.arguments.first)
    switch call.number {
    case Number.epollWait, Number.epollPwait, Number.epollPwait2:
      return (.epoll, .epoll(descriptor: descriptor))
    case Number.poll, Number.ppoll:
      return waitsOnNothing(count: call.arguments.second)
        ? place(.sleep, call) : (.poll, setIdentity(call, descriptors))
    case Number.select, Number.pselect6:
      return waitsOnNothing(count: call.arguments.first)
        ? place(.sleep, call) : (.poll, setIdentity(call, descriptors))
    case Number.ioUringEnter: return ring(call, descriptor)
    case Number.ioGetevents, Number.ioPgetevents, Number.semop, Number.semtimedop, Number.msgrcv,
      Number.mqTimedreceive:
      return (.message, .queue(call: call.number, identifier: call.arguments.first))
    case Number.accept, Number.accept4: return (.accept, .descriptor(descriptor))
    case Number.read, Number.readv, Number.recvfrom, Number.recvmsg, Number.recvmmsg:
      return (.input, .descriptor(descriptor))
    case Number.wait4, Number.waitid: return (.children, .children)
    case Number.rtSigtimedwait, Number.rtSigsuspend, Number.pause: return place(.signal, call)
    case Number.futex, Number.futexWait, Number.futexWaitv: return place(.futex, call)
    case Number.nanosleep, Number.clockNanosleep: return place(.sleep, call)
    default: return nil
    }
  }

  /// glibc's condition has two words side by side, `__g_signals` (sysdeps/nptl/bits/thread-shared-types.h), aligned to both.
  private static func futex(of call: BlockedCall) -> UInt64? {
    switch call.number {
    case SystemCallNumber.futex, SystemCallNumber.futexWait: call.arguments.first & ~7
    default: nil
    }
  }

  /// io_uring_enter(2): it waits only with IORING_ENTER_GETEVENTS (1 << 0) and a count; IORING_ENTER_REGISTERED_RING is
  /// 1 << 4.
  private static func ring(_ call: BlockedCall, _ descriptor: Int32) -> (WaitKind, Multiplexer)? {
    guard call.arguments.fourth & 1 != 0, call.arguments.third > 0 else { return nil }
    return (.ring, .ring(descriptor: descriptor, isIndex: call.arguments.fourth & 1 << 4 != 0))
  }

  private static func waitsOnNothing(count: UInt64) -> Bool { UInt32(truncatingIfNeeded: count) == 0 }

  private static func place(_ kind: WaitKind, _ call: BlockedCall) -> (WaitKind, Multiplexer) {
    (kind, .place(kind: kind, stackPointer: call.stackPointer, programCounter: call.programCounter))
  }

  private static func setIdentity(_ call: BlockedCall, _ descriptors: DescriptorSet?) -> Multiplexer {
    if let descriptors, !descriptors.isEmpty { return .descriptorSet }
    return .unreadSet(stackPointer: call.stackPointer, programCounter: call.programCounter)
  }
}
