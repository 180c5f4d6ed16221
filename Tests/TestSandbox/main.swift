// Enters the sandbox, tries what must not be possible any more, and says what came of it. With the argument `iterator` it
// only tries to load the task iterator, with the rights that it was given.

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

if CommandLine.arguments.dropFirst().first == "iterator" {
  var answer = "loaded"
  do throws(TaskIteratorRefusal) { _ = try TaskProgram(process: getppid()) } catch { answer = "\(error)" }
  try? writeAll(Array("\(answer)\n".utf8), to: STDOUT_FILENO)
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
