// A program that was started for somebody else's sake: it lives on when we end.

internal import CLinux
internal import Glibc

package final class StartedProgram {
  package let id: Int32
  private var isReaped = false

  /// Starts a program as a shell would: found through PATH, with our terminal, group and descriptors, and ignoring
  /// what we were told to ignore (nohup(1)). Of the signals some are unblocked in it, and some have their default action.
  /// Throws the reason of exec.
  package init(_ arguments: [[UInt8]], unblocked: [Int32], defaults: [Int32]) throws(Errno) {
    var vector: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { argument in
      unsafe (argument + [0]).withUnsafeBufferPointer { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe strdup($0.baseAddress!) }
      }
    }
    unsafe vector.append(nil)
    defer { unsafe vector.forEach { unsafe free($0) } }
    id = try systemCall { () -> Int32 in
      unsafe vector.withUnsafeMutableBufferPointer { vector in
        unsafe clinux_start_program(
          vector.baseAddress, unblocked, Int32(unblocked.count), defaults, Int32(defaults.count))
      }
    }
  }

  /// Also before its status was taken.
  package var hasEnded: Bool { isReaped || clinux_has_ended(id) }

  /// Does nothing once its status was taken: the number may belong to somebody else by now.
  package func send(_ signal: Int32) { if !isReaped { _ = kill(id, signal) } }

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
