// What a terminal tells of itself.

internal import CLinux
internal import Glibc

package struct Terminal {
  private let descriptor: Int32

  /// Nil for anything that is no terminal.
  package init?(_ descriptor: Int32) {
    guard isatty(descriptor) == 1 else { return nil }
    self.descriptor = descriptor
  }

  /// Nil where the terminal does not tell.
  package var columns: Int? {
    let columns = clinux_terminal_columns(descriptor)
    return columns > 0 ? Int(columns) : nil
  }

  /// A program reads its keys one by one, and so draws the screen itself, termios(3).
  package var isRaw: Bool {
    var settings = termios()
    return unsafe tcgetattr(descriptor, &settings) == 0 && settings.c_lflag & tcflag_t(ICANON) == 0
  }
}
