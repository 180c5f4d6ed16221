// The helper process alone, for tests of the capture.

internal import Stacks

CaptureServer.run(socket: 3)
