// The program: what was asked for, done, and the exit status.

import Analysis
import Linux
import StallCore
import Stacks

let words = OwnProcess.arguments.dropFirst().map { ByteString($0) }
if words == [ByteString(CaptureHelper.hiddenArgument)] {
  CaptureServer.run(socket: WorkerProcess.socketInChild)
}
if words == [ByteString(AnalystServer.hiddenArgument)] { AnalystServer.run() }
Program.exit(with: Program.run(words))
