// A Foundation RunLoop program that stalls: each SIGUSR1 sets a timer whose callback sleeps for 800 ms.

import Dispatch
import Foundation

@inline(never)
func saveDocument() {
  Thread.sleep(forTimeInterval: 0.8)
}

let source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .main)
source.setEventHandler {
  let timer = Timer(timeInterval: 0, repeats: false) { _ in saveDocument() }
  RunLoop.main.add(timer, forMode: .default)
}
source.resume()

print("ready", ProcessInfo.processInfo.processIdentifier)
fflush(nil)
RunLoop.main.run()
