// How text looks: colours, width, and how much is told.

package enum TextDetail: Sendable {
  /// No header and no remarks.
  case reportsOnly
  case normal
  /// All frames, evidence, and spells that may be no stalls.
  case everything
}

package struct TextStyle: Sendable {
  package var palette: Palette
  /// Columns of the terminal: longer names are cut. Nil: nothing is cut.
  package var width: Int?
  package var detail: TextDetail

  package init(palette: Palette = .plain, width: Int? = nil, detail: TextDetail = .normal) {
    self.palette = palette
    self.width = width
    self.detail = detail
  }
}

/// The colours of the parts of a report, as SGR sequences (ECMA-48, 8.3.117).
package struct Palette: Sendable {
  private let isColored: Bool

  package static let plain = Palette(isColored: false)
  package static let colored = Palette(isColored: true)

  func alarm(_ text: String) -> String { paint(text, "1;31") }
  func warning(_ text: String) -> String { paint(text, "1;33") }
  func strong(_ text: String) -> String { paint(text, "1") }
  func faint(_ text: String) -> String { paint(text, "2") }

  private func paint(_ text: String, _ code: String) -> String {
    isColored && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
