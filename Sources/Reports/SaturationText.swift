// Saturation as text.

internal import StallCore

extension SaturationRecord {
  func lines(after told: inout ToldEpisode, clock: String, _ style: TextStyle) -> [String] {
    let isFirst = told.id != saturation.id
    if isFirst { told = ToldEpisode(id: saturation.id) }
    let label = isFirst ? style.palette.warning("SATURATED") + "  " : ""
    var lines = (isFirst ? [""] : []) + ["\(clock)  \(label)\(sentence(style))"]
    if let passes { lines.append(passes) }
    let parts = saturation.breakdown.spoken(style.detail == .everything ? 0 : 1)
    if saturation.state != .ongoing, !parts.isEmpty { lines.append("  " + parts) }
    let handlers = handlers
    lines += handlers.map { $0.line(style) }
    if isFirst, handlers.isEmpty || style.detail == .everything {
      lines += stacks.flatMap { $0.lines(style) }
    }
    if saturation.state != .ongoing, repetition.count > 1 {
      lines.append(repetition.line("", "saturation"))
    }
    return lines
  }

  private func sentence(_ style: TextStyle) -> String {
    let palette = style.palette
    guard saturation.state != .ongoing else {
      let duration = palette.strong(saturation.duration.likely.spoken)
      return "\(thread.spoken) has not been idle for \(duration) and counting"
    }
    let text = "\(thread.spoken) was not idle for \(saturation.duration.spoken(palette))"
    return saturation.state.interruption.map { "\(text) \($0.spoken)" } ?? text
  }

  /// What tells it from a stall.
  private var passes: String? {
    switch (saturation.passes, saturation.longestPass) {
    case (let passes?, let longest?) where passes > 1:
      "  many short jobs: \(grouped(passes)) passes of its loop, the longest took \(longest.spoken)"
    case (let passes?, _): "  many short jobs: \(counted(passes, "pass", "passes")) of its loop"
    case (nil, let longest?): "  many short jobs: the longest pass of its loop took \(longest.spoken)"
    case (nil, nil): nil
    }
  }
}

extension FunctionRecord {
  var name: String {
    if let symbol { return symbol.text }
    guard let offset else { return moduleName?.text ?? "?" }
    return moduleName.map { "\($0.text)+\(offset.text)" } ?? offset.text
  }
}

extension HandlerRecord {
  /// `  62.1 %  Report::load  viewer`
  fileprivate func line(_ style: TextStyle) -> String {
    let start = paddedLeft(percent.spoken, to: 9) + "  "
    let module = function.symbol == nil ? "" : function.moduleName?.text ?? ""
    let room = style.width.map { max(12, $0 - start.count - module.count - 2) }
    let name =
      room.map { function.name.count > $0 ? function.name.prefix($0 - 1) + "…" : function.name }
      ?? function.name
    return module.isEmpty ? start + name : start + name + "  " + style.palette.faint(module)
  }
}
