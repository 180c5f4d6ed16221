// Threads of a Swift program that wait, each in its own way, or compute in functions that call themselves: `wait`, `spin`.
import Dispatch
import Glibc

@inline(never)
func visit(_ words: [String: Int], _ depth: Int) -> Int {
  if depth == 0 { return words.values.reduce(0) { $0 &* 31 &+ $1 } }
  return visit(words, depth - 1) &+ depth
}

func compute() -> Never {
  let words = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("word \($0)", $0) })
  var total = 0
  while true {
    for depth in 0..<20 { total &+= visit(words, depth) }
    if total == 1 { print(total) }
  }
}

_ = "ready\n".withCString { write(STDOUT_FILENO, $0, 6) }
if CommandLine.arguments.dropFirst().first == "spin" { compute() }
let group = DispatchGroup()
let nobody = DispatchSemaphore(value: 0)
DispatchQueue.global().async(group: group) { nobody.wait() }
DispatchQueue.global().async(group: group) { sleep(1_000_000) }
group.wait()
