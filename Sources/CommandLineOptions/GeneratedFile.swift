// The files that `--generate` prints: manual page and completions, made from the option table.

package enum GeneratedFile: String, CaseIterable, Sendable {
  case manual = "man"
  case bash, zsh, fish

  package var text: String {
    switch self {
    case .manual: manualPage()
    case .bash: bashCompletion()
    case .zsh: zshCompletion()
    case .fish: fishCompletion()
    }
  }
}
