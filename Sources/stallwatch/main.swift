// The program: what was asked for, done, and the exit status.

import Analysis
import CommandLineOptions
import Linux
import Observation
import StallCore
import Stacks

let words = OwnProcess.arguments.dropFirst().map { ByteString($0) }
if words.count == 2, words[0] == ByteString(TaskProgramLoader.hiddenArgument) {
  TaskProgramLoader.run(process: words[1].escaped)
}
// Nothing but the loader uses them.
guard OwnRights.giveUpThoseOfFile() else {
  Program.complain("cannot give up the rights that its file has")
  Program.exit(with: .status(.internalFailure))
}
if words == [ByteString(CaptureHelper.hiddenArgument)] {
  OwnProcess.releaseCodePages()
  CaptureServer.run(socket: WorkerProcess.socketInChild)
}
if words == [ByteString(AnalystServer.hiddenArgument)] { AnalystServer.run() }
if words.count == 2, words[0] == ByteString(DoctorSubject.hiddenArgument),
  let kind = DoctorSubject.Kind(rawValue: words[1].escaped)
{
  DoctorSubject.run(kind)
}
Program.exit(with: Program.run(words))
