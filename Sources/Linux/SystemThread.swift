// A plain thread, for work that must stay on one and may block.

internal import CLinux
internal import Glibc

/// Runs `body` on a new detached thread with an own stack; the process does not wait for it.
package func startThread(name: StaticString, _ body: @escaping @Sendable () -> Void) throws(Errno) {
  final class Body {
    let name: StaticString
    let run: @Sendable () -> Void
    init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
  let context = unsafe Unmanaged.passRetained(Body(name, body))
  var thread = pthread_t()
  let error = unsafe pthread_create(
    &thread, nil,
    { context in
      let body = unsafe Unmanaged<Body>.fromOpaque(context!).takeRetainedValue()
      _ = unsafe clinux_set_thread_name(body.name.utf8Start)
      body.run()
      return nil
    }, context.toOpaque())
  if error != 0 {
    unsafe context.release()
    throw Errno(error)
  }
  pthread_detach(thread)
}
