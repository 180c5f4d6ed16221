// Feeds parsers of hostile bytes with inputs: `Fuzz PARSER COUNT [FIRST]`; `Fuzz` lists the parsers.

import Glibc
import Linux

/// The number of the input that is being parsed, for whoever has to find it again.
nonisolated(unsafe) private var inputNumber = 0

/// Linked with libFuzzer (`scripts/fuzz`), the inputs come from there, led by what they cover.
#if GUIDED
  nonisolated(unsafe) private var guided: FuzzedParser?

  /// FUZZ_PARSER names the parser, FUZZ_SEEDS a directory that gets its seeds.
  @_cdecl("LLVMFuzzerInitialize")
  func initialize(_: UnsafeRawPointer, _: UnsafeRawPointer) -> CInt {
    func variable(_ name: String) -> String {
      unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }
    guard let parser = FuzzedParser.named(variable("FUZZ_PARSER")) else { return 1 }
    for (number, seed) in parser.seeds.enumerated() {
      try? FileDescriptor.create("\(variable("FUZZ_SEEDS"))/seed-\(number)").write(seed)
    }
    unsafe guided = parser
    return 0
  }

  @_cdecl("LLVMFuzzerTestOneInput")
  func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe guided?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
  }
#else
  @main enum Fuzz {
    static func main() {
      let words = CommandLine.arguments
      guard words.count >= 3, let parser = FuzzedParser.named(words[1]), let count = Int(words[2]) else {
        print(FuzzedParser.all.map(\.name).joined(separator: "\n"))
        exit(words.count == 1 ? 0 : 2)
      }
      tellWhereItEnds()
      let first = words.count > 3 ? Int(words[3]) ?? 0 : 0
      for number in first..<first + count {
        unsafe inputNumber = number
        limitTime()
        var mutator = Mutator(parser.seeds, input: UInt64(number))
        parser.run(mutator.input())
      }
      print("\(parser.name): \(count) inputs")
    }

    /// A second of CPU time, so that a busy machine makes no hang.
    private static func limitTime() {
      var limit = itimerval(it_interval: timeval(), it_value: timeval(tv_sec: 1, tv_usec: 0))
      unsafe setitimer(__itimer_which_t(1), &limit, nil)
    }

    private static func tellWhereItEnds() {
      for signal in [SIGVTALRM, SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE] {
        _ = Glibc.signal(signal) { number in
          try? writeAll(Array("input \(unsafe inputNumber) ended by signal \(number)\n".utf8), to: 2)
          _ = Glibc.signal(number, SIG_DFL)
          raise(number)
        }
      }
    }
  }
#endif
