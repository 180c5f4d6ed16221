// The BPF program that tells of the threads of one process, loaded into the kernel.

internal import CLibbpf
internal import Glibc
package import Linux
internal import Synchronization

/// Why there is no task iterator.
package enum TaskIteratorRefusal: Error, Equatable, Sendable {
  /// These capabilities are missing; if none is, something else forbids it.
  case notAllowed([Capability])
  /// Linux 5.15 is the first that lets such a program read user registers.
  case kernelTooOld
  /// The kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF).
  case noKernelTypes
  /// The kernel was built without it.
  case noPrograms
  /// The kernel refused the program.
  case refused(Errno)

  package var text: String {
    switch self {
    case .notAllowed([]):
      "refused in spite of CAP_BPF and CAP_PERFMON: a filter, a security module, or a user namespace"
    case .notAllowed(let missing):
      "it needs " + missing.map { "CAP_\($0.name)" }.joined(separator: " and ")
    case .kernelTooOld: "it needs Linux 5.15"
    case .noKernelTypes: "the kernel does not describe its types (/sys/kernel/btf/vmlinux)"
    case .noPrograms: "the kernel was built without BPF"
    case .refused(let error): "the kernel refused the program: \(error.text)"
    }
  }
}

/// What stays of it with us is a descriptor and a page that it shares with us. It tells of this process and of no
/// other, whoever reads. Where the rights to load it come from our file, it tells of a thread only what our caller may
/// see of it without them; otherwise such a thread is passed over, at each read anew. A class, because all threads
/// that are followed share it.
package final class TaskProgram: Sendable {
  private let program: SharedFile
  private let answer: Mutex<TaskAnswer>
  private let process: Int32

  package init(process: Int32) throws(TaskIteratorRefusal) {
    do throws(Errno) {
      let loaded =
        OwnRights.areOfFile
        ? try TaskProgramLoader.load(process: process) : try Self.load(process: process)
      program = loaded.program
      answer = Mutex(try TaskAnswer(loaded.answer.descriptor))
    } catch { throw Self.reason(for: error) }
    self.process = process
  }

  /// With the rights of this process.
  static func load(process: Int32) throws(Errno) -> LoadedTaskProgram {
    let request = TaskRequest(process: process)
    do throws(Errno) { return try TaskObject.loadQuickly(request) } catch {
      // Asked again it would be refused again, and each refusal can be a line in a log.
      if error == .notPermitted { throw error }
    }
    return try TaskObject().load(request)
  }

  // The kernel does the limiting where it can: since 6.1, and for threads other than the first since 6.12 (6.1 took the
  // thread's id for one of a process). Elsewhere the program passes over others. `limitsInKernel` is false only in tests of
  // that.

  /// Over all threads of the process.
  package func iterator(limitsInKernel: Bool = true) throws(TaskIteratorRefusal) -> TaskIterator {
    TaskIterator(self, try attach(limitsInKernel))
  }

  /// Of one thread.
  package func sampler(of thread: Int32, limitsInKernel: Bool = true) throws(TaskIteratorRefusal)
    -> TaskSampler
  {
    if limitsInKernel, let link = try? attach(thread: thread) {
      var sampler = TaskSampler(self, link, thread: thread)
      if (try? sampler.sample()) ?? nil != nil { return sampler }
    }
    return TaskSampler(self, try attach(limitsInKernel), thread: thread)
  }

  func beginWalk(_ link: borrowing FileDescriptor) throws(Errno) -> FileDescriptor {
    let raw = link.rawValue
    return FileDescriptor(owning: try systemCall { max(-1, bpf_iter_create(raw)) })
  }

  /// What the program tells of a thread when the walk comes to it, and stays there; nil at the end of the walk.
  func sample(of thread: Int32, _ walk: SharedFile) throws(Errno) -> TaskSample? {
    let raw = walk.rawDescriptor
    return try answer.withLock { (answer) throws(Errno) in
      answer.ask(for: thread)
      while true {
        do throws(Errno) {
          // The program writes nothing.
          _ = try systemCall { read(raw, nil, 1) }
          return nil
        } catch {
          guard error == .wouldBlock else { throw error }
          if let sample = answer.sample { return sample }
          // It went over a million other threads (MAX_ITER_OBJECTS), and goes on from there.
        }
      }
    }
  }

  func askingForAll<Result>(_ read: () throws(Errno) -> Result) throws(Errno) -> Result {
    try answer.withLock { (answer) throws(Errno) in
      answer.ask(for: 0)
      return try read()
    }
  }

  private func attach(_ limitsInKernel: Bool) throws(TaskIteratorRefusal) -> FileDescriptor {
    if limitsInKernel, let link = try? attach(process: process) { return link }
    return try attach()
  }

  private func attach(process: Int32 = 0, thread: Int32 = 0) throws(TaskIteratorRefusal) -> FileDescriptor {
    let answer = clibbpf_attach(program.rawDescriptor, process, thread)
    guard answer >= 0 else { throw Self.reason(for: Errno(-answer)) }
    return FileDescriptor(owning: answer)
  }

  private static func reason(for error: Errno) -> TaskIteratorRefusal {
    if error == .notPermitted { return .notAllowed(missingCapabilities) }
    if error == .notSupported { return .noPrograms }
    if KernelRelease.current.map({ $0 < KernelRelease(5, 15) }) ?? false { return .kernelTooOld }
    if unsafe access("/sys/kernel/btf/vmlinux", R_OK) != 0 { return .noKernelTypes }
    return .refused(error)
  }

  private static var missingCapabilities: [Capability] {
    let own = (try? ProcessStatus(path: "/proc/self/status"))?.effectiveCapabilities ?? 0
    if Capability.systemAdministration.isIn(own) { return [] }
    return [.bpf, .perfmon].filter { !$0.isIn(own) }
  }
}
