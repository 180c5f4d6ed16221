// Enters the sandbox, tries what must not be possible any more, and says what came of it. With the argument `iterator` it
// only tries to load the task iterator, with the rights that it was given, and reads what that tells of a process; with
// `sampling` it tries to open a perf event on one, as stallwatch does without the rights of its file, or with them.

import CLinux
import Glibc
import Linux
import Observation

func say(_ what: String, _ wasDone: Bool) {
  try? writeAll(Array("\(what) \(wasDone ? "done" : "refused")\n".utf8), to: STDOUT_FILENO)
}

func canMap(_ protection: Int32) -> Bool {
  unsafe mmap(nil, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED
}

func say(_ line: String) { try? writeAll(Array("\(line)\n".utf8), to: STDOUT_FILENO) }

/// Reads all the time until the moment, all threads together and each alone, and says what it saw: the threads, and what
/// stood in r15 of one.
func readAgainAndAgain(_ program: TaskProgram, of process: Int32, until end: Int64) throws {
  var threads: Set<Int32> = []
  var words: Set<UInt64> = []
  var iterator = try program.iterator()
  let listed = try ThreadList.threads(of: process)
  repeat {
    try iterator.read {
      threads.insert($0.threadID)
      words.insert($0.registers[.r15])
    }
    for thread in listed.prefix(8) {
      var sampler = try program.sampler(of: thread)
      for _ in 0..<8 {
        guard let sample = try sampler.sample() else { continue }
        threads.insert(sample.thread.threadID)
        words.insert(sample.thread.registers[.r15])
      }
    }
  } while Clock.monotonicNanoseconds < end
  say("threads " + threads.sorted().map { "\($0)" }.joined(separator: " "))
  say("words " + words.sorted().map { String($0, radix: 16) }.joined(separator: " "))
}

let words = Array(CommandLine.arguments.dropFirst())
if words.first == TaskProgramLoader.hiddenArgument { TaskProgramLoader.run(process: words[1]) }
if words.first == "iterator" {
  let process = words.count > 1 ? Int32(words[1])! : getppid()
  let milliseconds = words.count > 2 ? Int64(words[2])! : 0
  do {
    let program = try TaskProgram(process: process)
    say("loaded")
    try readAgainAndAgain(program, of: process, until: Clock.monotonicNanoseconds + milliseconds * 1_000_000)
  } catch let refusal as TaskIteratorRefusal { say(refusal.text) } catch { say("\(error)") }
  exit(0)
}

if words.first == "sampling" {
  if words.last == "as-caller" { _ = OwnRights.giveUpThoseOfFile() }
  let attributes = PerfEventAttributes(.processorTime(nanoseconds: 100_000))
  say("sampling", (try? PerfEvent(attributes, thread: Int32(words[1])!, dataPages: 1)) != nil)
  exit(0)
}

let failures = unsafe Sandbox.enter { path in
  // The only file that this door gives out.
  guard let path = unsafe path, unsafe String(cString: path) == "/given" else { return -ENOENT }
  return clinux_duplicate(0)
}
say("every limit", failures.isEmpty)
say("open of what the door gives", unsafe open("/given", O_RDONLY) >= 0)
say("open of another file", unsafe open("/etc/debian_version", O_RDONLY) >= 0)
say("open for writing", unsafe open("/given", O_WRONLY) >= 0)
say("socket", socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) >= 0)
say("kill", kill(getppid(), 0) == 0)
say("kill of a thread", pthread_kill(pthread_self(), 0) == 0)
say("signals of files", fcntl(0, F_SETOWN, getppid()) == 0)
say("ptrace", clinux_ptrace_seize(getppid()) == 0)
say("executable memory", canMap(PROT_EXEC | PROT_READ))
say("memory", canMap(PROT_READ))
say("removing a file", unsafe unlink("/tmp/stallwatch-no-such-file") == 0)
