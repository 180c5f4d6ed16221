// The program: what was asked for, done, and the exit status.

import Linux
import StallCore
import Stacks

let words = OwnProcess.arguments.dropFirst().map { ByteString($0) }
if words == [ByteString(CaptureHelper.hiddenArgument)] {
  CaptureServer.run(socket: WorkerProcess.socketInChild)
}
Program.exit(with: Program.run(words))
