// What a home is called in a sentence.

extension HomeCandidate {
  /// "epoll 7", "poll of 3 descriptors", "waiting for children".
  package var spoken: String {
    switch site.multiplexer {
    case .epoll(let descriptor): "epoll \(descriptor)"
    case .descriptorSet: poll(of: site.descriptors?.count ?? 0)
    case .unreadSet: "poll"
    case .ring(let number, let isIndex): isIndex ? "registered io_uring \(number)" : "io_uring \(number)"
    case .descriptor(let number): site.kind == .accept ? "accept on \(number)" : "reading \(number)"
    case .queue: "a message queue"
    case .children: "waiting for children"
    case .place(.sleep, _, _): "sleeping"
    case .place(.signal, _, _): "waiting for signals"
    case .place: "waiting to be woken (futex)"
    case .anyOf(let kind): kind.spoken
    }
  }

  private func poll(of count: Int) -> String {
    count == 1 ? "poll of 1 descriptor" : "poll of \(count) descriptors"
  }
}

extension WaitKind {
  /// What is said where only the kind is known.
  fileprivate var spoken: String {
    switch self {
    case .epoll: "some epoll"
    case .poll: "some poll"
    case .ring: "some io_uring"
    case .accept: "accepting"
    case .input: "reading"
    case .message: "a message queue"
    case .children: "waiting for children"
    case .signal: "waiting for signals"
    case .futex: "waiting to be woken (futex)"
    case .sleep: "sleeping"
    case .other: "a wait in the kernel"
    case .mainQueue: "the main queue of libdispatch"
    case .unseen: "sleeping"
    }
  }
}
