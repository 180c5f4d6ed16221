// A manual page under construction, in the macros of man(7).

struct Roff {
  private(set) var text: String

  init(title: String, section: Int, about: String) {
    text = ".TH \(title) \(section) \"\" \(Self.quoted(title.lowercased())) \(Self.quoted(about))\n"
  }

  mutating func section(_ name: String) { text += ".SH \(Self.quoted(name))\n" }

  /// Text between backticks is shown bold.
  mutating func paragraph(_ words: String) { text += ".PP\n\(Self.marked(words))\n" }

  /// The same, without a macro before it: the first words of a section.
  mutating func line(_ words: String) { text += "\(Self.marked(words))\n" }

  mutating func item(_ term: String, _ words: String) {
    text += ".TP\n\(Self.marked(term))\n\(Self.marked(words))\n"
  }

  /// Lines that are not filled into one another.
  mutating func lines(_ lines: [String]) {
    text += ".nf\n\(lines.map(Self.marked).joined(separator: "\n"))\n.fi\n"
  }

  private static func marked(_ words: String) -> String {
    let parts = words.split(separator: "`", omittingEmptySubsequences: false)
    let fonts = parts.enumerated().map { index, part in
      index % 2 == 0 ? escaped(String(part)) : "\\fB\(escaped(String(part)))\\fR"
    }
    let line = fonts.joined()
    return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
  }

  /// A dash that is typed is `\-` (man-pages(7)); what is beyond ASCII goes by its number.
  private static func escaped(_ words: String) -> String {
    words.unicodeScalars.map { scalar in
      switch scalar {
      case "\\": "\\e"
      case "-": "\\-"
      case "'": "\\(aq"
      case _ where scalar.isASCII: String(scalar)
      default: "\\[u\(hexadecimal(scalar.value))]"
      }
    }.joined()
  }

  private static func quoted(_ words: String) -> String { "\"\(escaped(words))\"" }

  /// At least four digits (groff_char(7)).
  private static func hexadecimal(_ number: UInt32) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
