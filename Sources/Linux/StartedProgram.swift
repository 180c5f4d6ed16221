// A program that was started for somebody else's sake: it lives on when we end.

internal import CLinux
internal import Glibc

package final class StartedProgram {
  package let id: Int32
  private var isReaped = false

  package enum Failure: Error {
    /// What exec said.
    case cannotStart(Errno)
    /// We may not become that user.
    case cannotBecomeUser(Errno)
  }

  /// Starts a program as a shell would: found through PATH, with our terminal, group and descriptors, and ignoring
  /// what we were told to ignore (nohup(1)). Of the signals some are unblocked in it, and some have their default action.
  /// As another user it also gets that user's groups, and HOME, SHELL, USER and LOGNAME as su(1) sets them.
  package init(
    _ arguments: [[UInt8]], unblocked: [Int32], defaults: [Int32], as user: UserAccount? = nil
  ) throws(Failure) {
    var vector: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { argument in
      unsafe (argument + [0]).withUnsafeBufferPointer { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe strdup($0.baseAddress!) }
      }
    }
    unsafe vector.append(nil)
    defer { unsafe vector.forEach { unsafe free($0) } }
    var isRefusedIdentity = false
    do throws(Errno) {
      id = try unsafe Self.withIdentity(user) { (identity) throws(Errno) in
        try systemCall { () -> Int32 in
          unsafe vector.withUnsafeMutableBufferPointer { vector in
            unsafe unblocked.withUnsafeBufferPointer { unblocked in
              unsafe defaults.withUnsafeBufferPointer { defaults in
                var program = unsafe clinux_program(
                  arguments: vector.baseAddress, unblocked: unblocked.baseAddress,
                  unblocked_count: Int32(unblocked.count), defaults: defaults.baseAddress,
                  default_count: Int32(defaults.count), identity: identity)
                return unsafe clinux_start_program(&program, &isRefusedIdentity)
              }
            }
          }
        }
      }
    } catch { throw isRefusedIdentity ? .cannotBecomeUser(error) : .cannotStart(error) }
  }

  private static func withIdentity(
    _ user: UserAccount?, _ body: (UnsafePointer<clinux_identity>?) throws(Errno) -> Int32
  ) throws(Errno) -> Int32 {
    guard let user else { return try body(nil) }
    let texts: [UnsafeMutablePointer<CChar>?] = unsafe [
      strdup(user.name), strdup(user.home), strdup(user.shell),
    ]
    let groups = UnsafeMutablePointer<gid_t>.allocate(capacity: user.groups.count)
    unsafe groups.initialize(from: user.groups, count: user.groups.count)
    defer {
      unsafe texts.forEach { unsafe free($0) }
      unsafe groups.deallocate()
    }
    var identity = unsafe clinux_identity(
      user: user.id, group: user.group, groups: groups, group_count: Int32(user.groups.count), name: texts[0],
      home: texts[1], shell: texts[2])
    return try unsafe body(&identity)
  }

  /// Also before its status was taken.
  package var hasEnded: Bool { isReaped || clinux_has_ended(id) }

  /// Does nothing once its status was taken: the number may belong to somebody else by now.
  package func send(_ signal: Int32) { if !isReaped { _ = kill(id, signal) } }

  /// Sends us SIGALRM after this time, instead of any alarm set before.
  package static func setAlarm(after time: Duration) {
    let parts = time.components
    clinux_set_alarm(max(1, parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000))
  }

  /// The signal that stopped it, once per stop.
  package func takeStop() -> Int32? {
    let signal = clinux_signal_that_stopped(id)
    return signal == 0 ? nil : signal
  }

  /// Waits for its end, and takes the status. Nil if somebody else has taken it.
  package func waitForEnd() -> ExitStatus? {
    var status: Int32 = 0
    let id = self.id
    guard let ended = try? systemCall({ unsafe clinux_wait(id, &status, true) }), ended == id else {
      return nil
    }
    isReaped = true
    let decoded = clinux_decode_status(status)
    return decoded.signaled ? .signaled(decoded.term_signal) : .exited(decoded.exit_status)
  }
}
