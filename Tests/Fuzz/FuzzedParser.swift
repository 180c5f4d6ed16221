// The table of everything that reads bytes of the target, each with seeds to start from.

/// What runs one input. It may refuse it in any way but by ending the process; what it answers is checked where there
/// is something to check.
struct FuzzedParser {
  let name: String
  let seeds: [[UInt8]]
  let run: ([UInt8]) -> Void

  init(_ name: String, seeds: [[UInt8]], run: @escaping ([UInt8]) -> Void) {
    self.name = name
    self.seeds = seeds
    self.run = run
  }

  init(_ name: String, texts: [String], run: @escaping ([UInt8]) -> Void) {
    self.init(name, seeds: texts.map { Array($0.utf8) }, run: run)
  }

  static var all: [FuzzedParser] {
    kernelFiles + moduleFiles + packedSections + stacks + texts + messages + observations + recordingFiles
      + proofsOfLife
  }

  static func named(_ name: String) -> FuzzedParser? { all.first { $0.name == name } }
}

/// Ends the process as a crash does.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  if !isTrue { fatalError(what()) }
}
