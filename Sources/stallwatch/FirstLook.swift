// What the first look at a process showed, and by what means it was made: what can be refused is refused here.

internal import CommandLineOptions
internal import Linux
internal import Observation
internal import Reports
internal import Stacks
internal import StallCore

struct FirstLook: ~Copyable {
  let camera: ThreadCamera
  let observer: LoopObserver
  let way: ThreadObserverWay
  let sight: FirstSight

  static func take(_ process: WatchedProcess, _ options: Options) throws(Errno) -> FirstLook {
    let camera = ThreadCamera(
      try process.open(), mayStop: !options.neverStop, takesStacks: !options.cpuOnly)
    // The helper's first answer; from here on it is there for the looks.
    let command = camera.commandLine()
    let buildID = camera.executableFacts()?.buildID
    let way = ObserverWay(process.id, options)
    let thread = process.thread.threadID
    var observer = try LoopObserver(process: process.id, thread: thread, way.way)
    _ = try observer.look { address, length, buffer in
      camera.readMemory(of: thread, at: address, length, into: &buffer)
    }
    let (waits, isByIterator) = (observer.facts.sight, observer.isByIterator)
    if let refusal = waits.refusal, RightsFacts(process.id).isSomeoneElses { throw refusal }
    camera.denied = waits.refusal
    let isMemorySeen = !(isByIterator && camera.isMemoryRefused)
    if let program = way.program { camera.use(program) }
    let sight = FirstSight(
      waits: waits, way: way, isByIterator: isByIterator, isMemorySeen: isMemorySeen, command: command,
      buildID: buildID)
    return FirstLook(camera: camera, observer: observer, way: way.way, sight: sight)
  }
}

/// What can be seen of the process at all, and which program it is.
struct FirstSight {
  var waits: WaitSight
  /// Nil: not asked for once more.
  var way: ObserverWay?
  /// The look was made by the task iterator.
  var isByIterator = false
  var isMemorySeen = true
  /// Nil: cannot be read.
  var command: [ByteString]?
  var buildID: String?
}
