// From what is known of our rights to the sentence and the next step.

import CommandLineOptions
import StallCore
import Testing

@testable import stallwatch

@Suite struct DenialTests {
  private static let all: UInt64 = 0x1ff_ffff_ffff
  private static let docker: UInt64 = 0xa804_25fb

  /// A program of user 1000 (whom nobody knows by name here), looked at by user 1001 without capabilities.
  private static func facts(
    own: UInt32 = 4_000_001, capabilities: UInt64 = 0, target: UInt32 = 4_000_000,
    _ change: (inout RightsFacts) -> Void = { _ in }
  ) -> RightsFacts {
    var facts = RightsFacts(
      process: 42, name: "viewer", own: .init(user: own, capabilities: capabilities),
      target: .init(user: target))
    change(&facts)
    return facts
  }

  private static let same = UInt32(4_000_000)

  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var facts: RightsFacts
    var why: String
    var next: String
    var testDescription: String { name }
  }

  private static let cases = [
    Case(
      name: "other user", facts: facts(), why: "belongs to user 4000000 and you are user 4000001",
      next: "sudo stallwatch --pid 42"),
    Case(
      name: "Yama 1", facts: facts(own: same) { $0.yamaScope = 1 }, why: "ptrace_scope is 1",
      next: "stallwatch run -- COMMAND, or sudo stallwatch --pid 42"),
    Case(
      name: "Yama 2", facts: facts(own: same) { $0.yamaScope = 2 }, why: "needs CAP_SYS_PTRACE",
      next: "sudo stallwatch --pid 42"),
    Case(
      name: "Yama 3, root", facts: facts(own: 0, capabilities: all) { $0.yamaScope = 3 },
      why: "until the next boot, root neither", next: "boot with another ptrace_scope"),
    Case(
      name: "root in a container", facts: facts(own: 0, capabilities: docker),
      why: "root without CAP_SYS_PTRACE",
      next: "give it CAP_SYS_PTRACE (docker run --cap-add=SYS_PTRACE)"),
    Case(
      name: "protected, and Yama 1 beside it",
      facts: facts(own: same) { ($0.isProtected, $0.yamaScope) = (true, 1) }, why: "it is protected",
      next: "sudo stallwatch --pid 42"),
    Case(
      name: "hidden", facts: facts(own: same) { ($0.target, $0.isHidden) = (nil, true) },
      why: "does not show it to you any more (hidepid)", next: "sudo stallwatch --pid 42"),
    Case(
      name: "more capabilities than we", facts: facts(own: same) { $0.target?.capabilities = 1 << 10 },
      why: "capabilities that you have not", next: "sudo stallwatch --pid 42"),
    Case(
      name: "root with the right to trace, and no other", facts: facts(own: 0, capabilities: 1 << 19),
      why: "its files in /proc are for user 4000000 alone, and you have no CAP_DAC_READ_SEARCH",
      next: "give it CAP_DAC_READ_SEARCH (docker run --cap-add=DAC_READ_SEARCH)"),
    Case(
      name: "user namespace", facts: facts(own: 0, capabilities: all) { $0.isInUserNamespace = true },
      why: "within this user namespace only", next: "stallwatch from outside of the container"),
    Case(
      name: "traced", facts: facts(own: same) { ($0.areWaitsSeen, $0.tracer, $0.yamaScope) = (true, 7, 1) },
      why: "process 7 is tracing it", next: "end that debugger, or do without stacks"),
    Case(
      name: "filter", facts: facts(own: same) { ($0.areWaitsSeen, $0.isFiltered) = (true, true) },
      why: "seccomp filter",
      next: "start it without that filter (docker run --security-opt seccomp=unconfined)"),
    Case(
      name: "a filter explains no refusal by /proc", facts: facts(own: same) { $0.isFiltered = true },
      why: "does not say why", next: "the kernel log (dmesg) may tell"),
    Case(
      name: "label",
      facts: facts(own: same) {
        $0.target?.label = "snap.viewer\u{1b}"; $0.own.label = "unconfined"
      },
      why: #"a security module refuses it (the program is "snap.viewer\x1b")"#,
      next: "the kernel log (dmesg) names the rule"),
    Case(
      name: "nothing fits", facts: facts(own: 0, capabilities: all), why: "does not say why",
      next: "the kernel log (dmesg) may tell"),
  ]

  @Test(
    "PERM-01, PERM-02, PERM-04, PERM-05, PERM-08: what is refused has one reason and one next step",
    arguments: cases) func factsGiveOneReasonAndOneStep(_ example: Case)
  {
    let denial = Denial(example.facts)
    #expect(denial.why.contains(example.why) && denial.next == example.next)
    if example.facts.own.user == 0 { #expect(!denial.next.contains("sudo")) }
  }

  @Test func dumpDoesNotOfferToDoWithoutStacks() {
    let refusal = Refusal.notPermitted(Self.facts(), .dump)
    #expect(refusal.code == .notPermitted && refusal.next == "sudo stallwatch dump --pid 42")
    #expect(Refusal.notPermitted(Self.facts(), .watch).next?.hasSuffix("(or --cpu-only)") == true)
  }
}
