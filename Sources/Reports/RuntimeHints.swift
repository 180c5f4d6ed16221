// What a person should know of stacks of runtimes: how generated code gets names, and whose functions are not shown.

/// What makes a runtime write the names of its generated code into `/tmp/perf-PID.map`.
private let compilers = [
  (module: "node", remedy: "node --perf-basic-prof --interpreted-frames-native-stack"),
  (module: "libnode", remedy: "node --perf-basic-prof --interpreted-frames-native-stack"),
  (module: "libjvm", remedy: "jcmd PID Compiler.perfmap (Java 17 and later)"),
  (module: "libcoreclr", remedy: "DOTNET_PerfMapEnabled=1"),
]

/// Whose functions are data to the machine, and what shows them.
private let interpreters = [
  (module: "libpython", language: "Python", tool: "py-spy dump --pid PID"),
  (module: "python", language: "Python", tool: "py-spy dump --pid PID"),
  (module: "libruby", language: "Ruby", tool: "rbspy snapshot --pid PID"),
  (module: "ruby", language: "Ruby", tool: "rbspy snapshot --pid PID"),
  (module: "libphp", language: "PHP", tool: "phpspy -p PID"),
  (module: "php", language: "PHP", tool: "phpspy -p PID"),
  (module: "libperl", language: "Perl", tool: nil),
  (module: "perl", language: "Perl", tool: nil),
  (module: "liblua", language: "Lua", tool: nil),
  (module: "lua", language: "Lua", tool: nil),
]

extension StackRecord {
  /// For runtimes that are known by the files on the stack.
  var hints: [String] {
    let modules = frames.compactMap(\.moduleName?.text)
    var hints: [String] = []
    // Where nothing has a name, names were not looked for yet.
    if frames.contains(where: \.isNamelessCode), frames.contains(where: { $0.symbol != nil }),
      let compiler = compilers.first(where: { known in modules.contains { $0.hasPrefix(known.module) } })
    {
      hints.append("names for the JIT code: \(compiler.remedy)")
    }
    if let interpreter = interpreters.first(where: { known in modules.contains { $0.hasPrefix(known.module) }
    }) {
      let tool = interpreter.tool.map { "; \($0) shows them" } ?? ""
      hints.append("\(interpreter.language) functions are not shown, only their interpreter\(tool)")
    }
    return hints
  }
}
