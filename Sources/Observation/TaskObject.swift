// The compiled BPF program, as libbpf fits it to the kernel that runs and loads it.

internal import CLibbpf
internal import Glibc
internal import Linux
internal import Synchronization

struct LoadedTaskProgram: Sendable {
  let program: SharedFile
  /// For `TaskAnswer`.
  let answer: SharedFile
}

@safe struct TaskObject: ~Copyable {
  private let object: OpaquePointer

  /// `types` is the open file from which libbpf takes the kernel's types. Without one it reads them all by itself.
  init(types: Int32? = nil) throws(Errno) {
    let bytes = PackageResources.task_iterator_bpf_o
    let path = types.map { "/proc/self/fd/\($0)" }
    let opened = unsafe bytes.withUnsafeBytes { bytes in
      guard let path else { return unsafe clibbpf_open(bytes.baseAddress, bytes.count, nil) }
      return unsafe path.withCString { unsafe clibbpf_open(bytes.baseAddress, bytes.count, $0) }
    }
    guard let opened = unsafe opened else { throw Errno(errno) }
    unsafe object = opened
  }

  deinit { unsafe bpf_object__close(object) }

  /// Of the program itself.
  var types: TypeTable? {
    var count: UInt32 = 0
    guard let start = unsafe clibbpf_types(object, &count) else { return nil }
    return unsafe TypeTable(KernelBytes(Array(UnsafeRawBufferPointer(start: start, count: Int(count)))))
  }

  func load(_ request: TaskRequest) throws(Errno) -> LoadedTaskProgram {
    var loaded = clibbpf_loaded(program: -1, answer: -1)
    let error = unsafe request.withBytes { unsafe clibbpf_load(object, $0.baseAddress, $0.count, &loaded) }
    let program = LoadedTaskProgram(
      program: SharedFile(FileDescriptor(owning: loaded.program)),
      answer: SharedFile(FileDescriptor(owning: loaded.answer)))
    guard error == 0 else { throw Errno(-error) }
    return program
  }
}

extension TaskObject {
  /// What the iterator calls the program as, in the kernel.
  private static let function = "bpf_iter_task"
  /// Whether libbpf has been told where that is.
  private static let isFunctionKnown = Mutex(false)

  /// libbpf takes more than 20 ms and 10 MB to find what the program needs of the kernel's types. Here that is picked out for
  /// it.
  static func loadQuickly(_ request: TaskRequest) throws(Errno) -> LoadedTaskProgram {
    guard let kernel = TypeTable(try KernelBytes(path: "/sys/kernel/btf/vmlinux")),
      let function = kernel.named(NameSet([Array(function.utf8)]), among: kernel.functions).first
    else { throw .notSupported }
    try makeKnown(function)
    var types = try SealedBytes.Builder()
    let object = try TaskObject(types: types.rawDescriptor)
    guard let program = object.types else { throw .notSupported }
    unsafe try types.append(ReducedTypes(of: kernel, for: program).bytes.span.bytes)
    return try object.load(request)
  }

  private static func makeKnown(_ function: UInt32) throws(Errno) {
    try isFunctionKnown.withLock { isKnown throws(Errno) in
      if isKnown { return }
      let answer = clibbpf_know_function(function)
      guard answer >= 0 else { throw Errno(-answer) }
      isKnown = true
    }
  }
}
