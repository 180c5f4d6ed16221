// Where a loop parks, as a person says it: `epoll:7`, `sleep`, or in the words of our own remark.

package enum HomeSelector: Sendable, Hashable {
  /// Any wait of the kind, or the one with this number: an epoll's, a ring's or a descriptor's.
  case kind(WaitKind, number: Int32?)
  /// Any wait on this descriptor, alone or among others.
  case descriptor(Int32)

  /// Not to be typed: it is found, or is not there.
  package static let mainQueue = HomeSelector.kind(.mainQueue, number: nil)

  package func matches(_ site: Site) -> Bool {
    switch (self, site.multiplexer) {
    // That it sleeps is all that can be seen.
    case (_, .anyOf(.unseen)): true
    case (.kind(let kind, _), .anyOf): site.kind == kind
    case (.descriptor, .anyOf(let kind)): kind.waitsOnDescriptors
    case (.descriptor(let number), .descriptorSet):
      site.descriptors.map { $0.elements.contains(number) } ?? false
    case (.descriptor(let number), _): site.multiplexer.number == number
    case (.kind(let kind, nil), _): site.kind == kind
    case (.kind(let kind, let number?), _): site.kind == kind && site.multiplexer.number == number
    }
  }
}

extension HomeSelector {
  /// What may stand on a command line, and what our remarks say instead. With a number where there is one.
  private static let words: [(kind: WaitKind, word: String, spoken: [String], takesNumber: Bool)] = [
    (.epoll, "epoll", ["some epoll"], true),
    (.poll, "poll", ["some poll", "select"], false),
    (.ring, "ring", ["io_uring", "registered io_uring", "some io_uring"], true),
    (.accept, "accept", ["accept on", "accepting"], true),
    (.input, "read", ["reading", "recv"], true),
    (.message, "queue", ["a message queue"], false),
    (.children, "children", ["waiting for children", "wait"], false),
    (.signal, "signal", ["waiting for signals", "signals"], false),
    (.futex, "futex", ["waiting to be woken (futex)"], false),
    (.sleep, "sleep", ["sleeping"], false),
  ]

  package static let choices = words.map { $0.takesNumber ? "\($0.word)[:N]" : $0.word } + ["fd:N"]

  /// What was likely meant by a text that names no wait: a bare number is a descriptor, and names of system calls and
  /// of what they wait on are told apart by how they begin.
  package static func likely(for text: String) -> String? {
    let word = text.lowercased()
    let digits = word.filter { ("0"..."9").contains($0) }
    if !digits.isEmpty, digits == word { return "fd:\(digits)" }
    let number = digits.isEmpty || digits.count > 9 ? "" : ":\(digits)"
    let known = beginnings.first { beginning, _ in word.hasPrefix(beginning) }
    guard let known, let selector = Self(known.word + number) ?? Self(known.word) else { return nil }
    return selector.text
  }

  private static let beginnings = [
    ("epoll", "epoll"), ("ppoll", "poll"), ("poll", "poll"), ("select", "poll"), ("pselect", "poll"),
    ("io_uring", "ring"), ("uring", "ring"), ("ring", "ring"), ("accept", "accept"), ("listen", "accept"),
    ("read", "read"), ("recv", "read"), ("tty", "read"), ("stdin", "read"), ("msg", "queue"), ("mq", "queue"),
    ("sem", "queue"), ("wait", "children"), ("child", "children"), ("sig", "signal"), ("pause", "signal"),
    ("cond", "futex"), ("lock", "futex"), ("nanosleep", "sleep"), ("usleep", "sleep"), ("sleep", "sleep"),
    ("clock", "sleep"), ("timer", "sleep"), ("fd", "fd"), ("eventfd", "read"),
  ].map { (beginning: $0.0, word: $0.1) }

  /// Nil for what names no wait.
  package init?(_ text: String) {
    let words = Self.withoutFamily(text).split { $0 == " " || $0 == ":" }.map(String.init)
    let number = words.last.flatMap { Int32($0) }.flatMap { $0 >= 0 ? $0 : nil }
    let name = words.dropLast(number == nil ? 0 : 1).joined(separator: " ")
    if name == "fd", let number {
      self = .descriptor(number)
    } else if name.hasPrefix("poll of "), name.hasSuffix("descriptors") || name.hasSuffix("descriptor") {
      self = .kind(.poll, number: nil)
    } else if let known = Self.words.first(where: { $0.word == name || $0.spoken.contains(name) }),
      number == nil || known.takesNumber
    {
      self = .kind(known.kind, number: number)
    } else {
      return nil
    }
  }

  /// "epoll 7 (libuv), parked 99 %": only what stands before. The word `(futex)` belongs to what is said.
  private static func withoutFamily(_ text: String) -> String {
    let clause = text.prefix { $0 != "," }
    guard clause.hasSuffix(")"), !clause.hasSuffix("(futex)"), let start = clause.lastIndex(of: "(") else {
      return String(clause)
    }
    return String(clause[..<start])
  }

  /// As it can be typed again.
  package var text: String {
    switch self {
    case .descriptor(let number): "fd:\(number)"
    case .kind(let kind, let number):
      (Self.words.first { $0.kind == kind }?.word ?? kind.rawValue) + (number.map { ":\($0)" } ?? "")
    }
  }

  /// What names the home that was found.
  package init?(_ home: HomeCandidate) {
    guard Self.words.contains(where: { $0.kind == home.site.kind }) else { return nil }
    self = .kind(home.site.kind, number: home.site.multiplexer.number)
  }
}

extension Multiplexer {
  fileprivate var number: Int32? {
    switch self {
    case .epoll(let descriptor), .ring(let descriptor, _), .descriptor(let descriptor): descriptor
    default: nil
    }
  }
}

extension WaitKind {
  fileprivate var waitsOnDescriptors: Bool {
    switch self {
    case .epoll, .poll, .ring, .accept, .input: true
    case .message, .children, .signal, .futex, .sleep, .other, .mainQueue, .unseen: false
    }
  }
}
