// Manual page, completions and the lists of the README are what the tables make; shells and formatters accept them.

import Foundation
import Linux
import TestSupport
import Testing

@testable import CommandLineOptions

private let repository = URL(filePath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// True: what differs is written, to be looked at before it is committed.
private let records = ProcessInfo.processInfo.environment["STALLWATCH_RECORD"] != nil

private func expect(
  _ text: String, isFile path: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = repository.appending(path: path)
  if records {
    try Data(text.utf8).write(to: file)
  }
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  let expected = try String(contentsOf: file, encoding: .utf8)
    .split(separator: "\n", omittingEmptySubsequences: false)
  for (line, wanted) in zip(lines, expected) where line != wanted {
    #expect(line == wanted, "\(path)", sourceLocation: sourceLocation)
  }
  #expect(lines.count == expected.count, "\(path)", sourceLocation: sourceLocation)
}

extension GeneratedFile {
  fileprivate var path: String {
    switch self {
    case .manual: "Docs/stallwatch.1"
    case .bash: "Docs/completions/stallwatch.bash"
    case .zsh: "Docs/completions/_stallwatch"
    case .fish: "Docs/completions/stallwatch.fish"
    }
  }
}

/// Where an optional program is; nil: it is not installed.
private func installed(_ program: String) -> String? {
  ["/bin", "/usr/bin", "/usr/local/bin"].map { "\($0)/\(program)" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}

extension Trait where Self == ConditionTrait {
  fileprivate static func needs(_ program: String) -> Self {
    .enabled(if: installed(program) != nil, "\(program) is not installed")
  }
}

/// What a program writes, with its standard error.
private func output(of program: String, _ arguments: [String]) throws -> (
  text: String, status: Linux.ExitStatus
) {
  var process = try TargetProcess(
    path: "/bin/sh",
    arguments: ["-c", "exec \"$@\" 2>&1", "sh", try #require(installed(program))] + arguments)
  var lines: [String] = []
  while let line = try? process.readLine() { lines.append(line) }
  return (lines.joined(separator: "\n"), try process.waitForExit())
}

@Suite struct GeneratedFileTests {
  @Test(arguments: GeneratedFile.allCases)
  func isWhatTheTablesMake(file: GeneratedFile) throws {
    try expect(file.text, isFile: file.path)
  }

  @Test func readmeListsOptionsAndExitStatuses() throws {
    let readme = try String(contentsOf: repository.appending(path: "README.md"), encoding: .utf8)
    let statuses = ExitCode.allCases.map {
      "| \($0.rawValue) | \($0.commands.map(\.rawValue).joined(separator: ", ")) | \($0.meaning) |"
    }
    var text = try readme.replacingPart(
      after: "### Options\n\n```\n", before: "\n```",
      by: optionLines(optionTable).joined(separator: "\n"))
    text = try text.replacingPart(
      after: "| status | of | meaning |\n|---|---|---|\n", before: "\n\n",
      by: statuses.joined(separator: "\n"))
    try expect(text, isFile: "README.md")
  }

  @Test(.needs("groff")) func groffFindsNothingToWarnAbout() throws {
    #expect(try output(of: "groff", ["-man", "-Tutf8", "-ww", "-z", manual]).text == "")
  }

  @Test(.needs("mandoc")) func mandocFindsNothingToWarnAbout() throws {
    // No date: it would be one more thing that is not true for long.
    let warnings = try output(of: "mandoc", ["-Tlint", "-Wwarning", manual]).text.split(separator: "\n")
    #expect(warnings.filter { !$0.contains("missing date") } == [])
  }

  @Test func bashAcceptsItsCompletion() throws { try expectSyntax(of: .bash, by: "bash") }

  @Test(.needs("zsh")) func zshAcceptsItsCompletion() throws { try expectSyntax(of: .zsh, by: "zsh") }

  @Test(.needs("fish")) func fishAcceptsItsCompletion() throws { try expectSyntax(of: .fish, by: "fish") }

  private let manual = repository.appending(path: GeneratedFile.manual.path).path

  private func expectSyntax(of file: GeneratedFile, by shell: String) throws {
    let result = try output(of: shell, ["-n", repository.appending(path: file.path).path])
    #expect(result.text == "")
    #expect(result.status == .exited(0))
  }
}

extension String {
  fileprivate func replacingPart(after start: String, before end: String, by part: String) throws -> String {
    let opening = try #require(range(of: start))
    let closing = try #require(range(of: end, range: opening.upperBound..<endIndex))
    return replacingCharacters(in: opening.upperBound..<closing.lowerBound, with: part)
  }
}

/// What bash offers at the end of a line. The last word may be empty.
private func offers(_ line: String) throws -> [String] {
  let script = repository.appending(path: GeneratedFile.bash.path).path
  // Readline is not there, so neither is compopt's effect; the words are cut as readline cuts them: at blanks and `=`.
  let program = """
    compopt() { :; }
    source "$0"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _stallwatch
    printf '%s\\n' "${COMPREPLY[@]}"
    """
  let words = line.replacing("=", with: " = ").split(separator: " ").map(String.init)
  let last = line.hasSuffix(" ") ? [""] : []
  let result = try output(of: "bash", ["-c", program, script] + words + last)
  #expect(result.status == .exited(0))
  return result.text.split(separator: "\n").map(String.init)
}

@Suite struct BashCompletionTests {
  @Test(arguments: [
    ("stallwatch --thres", ["--threshold"]), ("stallwatch --cpu-w", ["--cpu-window"]),
    ("stallwatch dump --ne", ["--never-stop"]), ("stallwatch dump --thresh", []),
    ("stallwatch run --pid", []),
    ("stallwatch --color ", ["auto", "always", "never"]), ("stallwatch --color=al", ["always"]),
    ("stallwatch -t ", []), ("stallwatch --generate b", ["bash"]), ("stallwatch ru", ["run"]),
    ("stallwatch -o run --thres", ["--threshold"]),
    ("stallwatch -o /etc/debian_v", ["/etc/debian_version"]),
    ("stallwatch run -q -- mkte", ["mktemp"]), ("stallwatch run -t 1s mkte", ["mktemp"]),
    ("stallwatch run -- ls --thr", []), ("stallwatch -- mkte", ["mktemp"]),
  ])
  func offersWhatCanFollow(line: String, words: [String]) throws {
    let offered = try offers(line)
    #expect(Set(offered).isSuperset(of: words))
    if words.count < 2 { #expect(Set(offered) == Set(words)) }
  }

  @Test(arguments: [
    "stallwatch --pid ", "stallwatch -p ", "stallwatch --pid=", "stallwatch dump ", "stallwatch ",
  ])
  func offersProcesses(line: String) throws {
    let own = String(ProcessInfo.processInfo.processIdentifier)
    #expect(try offers(line).contains(own))
  }

  @Test(arguments: Command.allCases)
  func offersEveryOptionOfTheCommand(command: Command) throws {
    let offered = try offers("stallwatch \(command.rawValue) -")
    #expect(offered == optionTable.filter { $0.commands.contains(command) }.flatMap(\.spellings))
  }
}

@Suite(.needs("fish")) struct FishCompletionTests {
  @Test(arguments: [
    ("stallwatch --thres", ["--threshold"]), ("stallwatch dump --thresh", []),
    ("stallwatch --color al", ["always"]),
    ("stallwatch run -- mktem", ["mktemp"]),
  ])
  func offersWhatCanFollow(line: String, words: [String]) throws {
    let script = repository.appending(path: GeneratedFile.fish.path).path
    let program = "source $argv[1]; complete -C $argv[2]"
    let result = try output(of: "fish", ["--no-config", "-c", program, script, line])
    #expect(result.text.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == words.map { $0[...] })
  }
}
