// The BPF program that tells of the threads of one process, loaded into the kernel.

internal import CLibbpf
internal import Glibc
package import Linux

/// Why there is no task iterator.
package enum TaskIteratorRefusal: Error, Equatable, Sendable {
  /// CAP_BPF and CAP_PERFMON are missing, or a security module forbids it.
  case notAllowed
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
    case .notAllowed: "it needs CAP_BPF and CAP_PERFMON"
    case .kernelTooOld: "it needs Linux 5.15"
    case .noKernelTypes: "the kernel does not describe its types (/sys/kernel/btf/vmlinux)"
    case .noPrograms: "the kernel was built without BPF"
    case .refused(let error): "the kernel refused the program: \(error.text)"
    }
  }
}

/// Loading takes some 20 ms and 10 MB for a moment, in which libbpf reads the kernel's types; what stays is a descriptor.
/// It tells of this process and of no other, whoever reads. A class, because all threads that are followed share it.
package final class TaskProgram: Sendable {
  private let program: FileDescriptor
  private let process: Int32

  package init(process: Int32) throws(TaskIteratorRefusal) {
    let bytes = PackageResources.task_iterator_bpf_o
    let answer = unsafe bytes.withUnsafeBytes { unsafe clibbpf_load($0.baseAddress, $0.count, process) }
    guard answer >= 0 else { throw Self.reason(for: Errno(-answer)) }
    program = FileDescriptor(owning: answer)
    self.process = process
  }

  /// Over all threads of the process, or over one.
  ///
  /// The kernel does the limiting where it can: since 6.1, and for threads other than the first since 6.12 (6.1 took the
  /// thread's id for one of a process). Elsewhere the program passes over other processes, and the iterator over other
  /// threads. `limitsInKernel` is false only in tests of that.
  package func iterator(thread: Int32? = nil, limitsInKernel: Bool = true) throws(TaskIteratorRefusal)
    -> TaskIterator
  {
    if limitsInKernel, let thread, let link = try? attach(thread: thread) {
      var iterator = TaskIterator(link, thread: thread, isAlone: true)
      if (try? iterator.sample()) ?? nil != nil { return iterator }
    }
    if limitsInKernel, let link = try? attach(process: process) { return TaskIterator(link, thread: thread) }
    return TaskIterator(try attach(), thread: thread)
  }

  private func attach(process: Int32 = 0, thread: Int32 = 0) throws(TaskIteratorRefusal) -> FileDescriptor {
    let answer = clibbpf_attach(program.rawValue, process, thread)
    guard answer >= 0 else { throw Self.reason(for: Errno(-answer)) }
    return FileDescriptor(owning: answer)
  }

  private static func reason(for error: Errno) -> TaskIteratorRefusal {
    if error == .notPermitted { return .notAllowed }
    if error == .notSupported { return .noPrograms }
    if KernelRelease.current.map({ $0 < KernelRelease(5, 15) }) ?? false { return .kernelTooOld }
    if unsafe access("/sys/kernel/btf/vmlinux", R_OK) != 0 { return .noKernelTypes }
    return .refused(error)
  }
}
