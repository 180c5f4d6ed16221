// The run loop of Foundation; the jobs are those of the C targets.
import Foundation

typealias Observed = @convention(c) (OpaquePointer?, UInt, UnsafeMutableRawPointer?) -> Void

// Foundation does not show its observers on Linux. The library has them.
@_silgen_name("CFRunLoopGetMain") func CFRunLoopGetMain() -> OpaquePointer
@_silgen_name("CFRunLoopObserverCreate")
func CFRunLoopObserverCreate(
  _ allocator: OpaquePointer?, _ activities: UInt, _ repeats: UInt8, _ order: Int, _ callout: Observed,
  _ context: OpaquePointer?
) -> OpaquePointer
@_silgen_name("CFRunLoopAddObserver")
func CFRunLoopAddObserver(_ loop: OpaquePointer, _ observer: OpaquePointer, _ mode: OpaquePointer)
@_silgen_name("CFStringCreateWithCString")
func CFStringCreateWithCString(
  _ allocator: OpaquePointer?, _ text: UnsafePointer<CChar>, _ encoding: UInt32
) -> OpaquePointer

@_silgen_name("read_plan")
func readPlan(_ count: Int32, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>)
@_silgen_name("until_next_job") func untilNextJob() -> Int
@_silgen_name("do_due_job") func doDueJob()
@_silgen_name("loop_waits") func loopWaits()
@_silgen_name("loop_woke") func loopWoke()
@_silgen_name("now") func monotonicNow() -> Int

let beforeWaiting: UInt = 1 << 5
let afterWaiting: UInt = 1 << 6
let utf8: UInt32 = 0x0800_0100

@_cdecl("dialog")
func dialog(end: Int) {
  let tick = Timer(fire: Date(timeIntervalSinceNow: 0.03), interval: 0.03, repeats: true) { _ in }
  RunLoop.main.add(tick, forMode: .default)
  while monotonicNow() < end {
    let rest = Double(end - monotonicNow()) / 1e9
    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: rest))
  }
  tick.invalidate()
}

func planNextJob() {
  let rest = untilNextJob()
  guard rest >= 0 else { return }
  // Given an interval alone, Foundation on Linux fires at once.
  let timer = Timer(fire: Date(timeIntervalSinceNow: Double(rest) / 1e9), interval: 0, repeats: false) { _ in
    doDueJob()
    planNextJob()
  }
  RunLoop.main.add(timer, forMode: .default)
}

@main
struct Target {
  static func main() {
    let observer = CFRunLoopObserverCreate(
      nil, beforeWaiting | afterWaiting, 1, 0,
      { _, activity, _ in
        if activity == beforeWaiting { loopWaits() } else { loopWoke() }
      }, nil)
    CFRunLoopAddObserver(
      CFRunLoopGetMain(), observer, CFStringCreateWithCString(nil, "kCFRunLoopDefaultMode", utf8))
    // A loop without anything to wait for ends.
    RunLoop.main.add(Timer(fire: .distantFuture, interval: 1, repeats: true) { _ in }, forMode: .default)
    readPlan(CommandLine.argc, CommandLine.unsafeArgv)
    planNextJob()
    while RunLoop.main.run(mode: .default, before: .distantFuture) {}
  }
}
