// The program: what was asked for, done, and the exit status.

import CommandLineOptions
import StallCore
import Stacks

let words = CommandLine.wordsAfterName
if words == [ByteString(CaptureHelper.hiddenArgument)] {
  CaptureServer.run(socket: CaptureHelper.socketInChild)
}
Program.exit(with: Program.run(words))
