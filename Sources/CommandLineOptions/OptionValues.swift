// How the values of options are read.

internal import StallCore

/// Nobody means less than 10 ms: a bare number below that was thought of as seconds.
func readThreshold(_ text: String) throws(ValueProblem) -> Duration {
  let isSmall = Double(text).map { $0 < 10 } ?? false
  let threshold = try readDuration(text, likely: isSmall ? "s" : "ms")
  if threshold < .milliseconds(10) { throw .tooShort(least: "10ms") }
  return threshold
}

/// Waking up is what costs, hence the lower bound; the upper one keeps the blind time of one late look short.
func readInterval(_ text: String) throws(ValueProblem) -> Duration {
  let interval = try readDuration(text, likely: "ms")
  if interval < .milliseconds(2) { throw .tooShort(least: "2ms") }
  if interval > .milliseconds(500) { throw .tooLong(most: "500ms") }
  return interval
}

func readSeconds(_ text: String) throws(ValueProblem) -> Duration {
  try readDuration(text, likely: "s")
}

/// Nothing, in whatever unit, turns it off.
func readCooldown(_ text: String) throws(ValueProblem) -> Duration {
  text == "0" || text == "0s" || text == "0ms" ? .zero : try readSeconds(text)
}

/// `launch=5s`.
func readPhase(_ text: String) throws(ValueProblem) -> (Phase, Duration) {
  let names = Phase.special.map(\.rawValue)
  guard let equals = text.firstIndex(of: "=") else { throw .notAPhase(names) }
  let name = String(text[..<equals])
  guard name != Phase.normal.rawValue, let phase = Phase(rawValue: name) else { throw .notAPhase(names) }
  let duration: Duration
  do { duration = try readDuration(String(text[text.index(after: equals)...]), likely: "s") } catch {
    switch error {
    case .tooLong, .noUnit: throw error
    default: throw .notADuration
    }
  }
  if duration < .milliseconds(10) { throw .tooShort(least: "10ms") }
  return (phase, duration)
}

func readPercent(_ text: String) throws(ValueProblem) -> Double {
  let digits = text.hasSuffix("%") ? String(text.dropLast()) : text
  guard isDecimal(digits), let percent = Double(digits), percent <= 100 else { throw .notAPercentage }
  return percent
}

func readFrameCount(_ text: String) throws(ValueProblem) -> Int { try readCount(text, 1...10_000) }

func readStallCount(_ text: String) throws(ValueProblem) -> Int { try readCount(text, 1...1_000_000_000) }

private func readCount(_ text: String, _ range: ClosedRange<Int>) throws(ValueProblem) -> Int {
  guard text.allSatisfy(isDigit), let count = Int(text), range.contains(count) else {
    throw .notACount(range)
  }
  return count
}

func readChoice<Choice: RawRepresentable<String> & CaseIterable>(_ text: String) throws(ValueProblem)
  -> Choice
{
  guard let choice = Choice(rawValue: text) else {
    throw .notAChoice(Choice.allCases.map(\.rawValue))
  }
  return choice
}

func readHome(_ text: String) throws(ValueProblem) -> HomeSelector {
  guard let home = HomeSelector(text) else { throw .notAHome(likely: HomeSelector.likely(for: text)) }
  return home
}

func readHeartbeat(_ text: String) throws(ValueProblem) -> HeartbeatName {
  guard let name = HeartbeatName(ByteString(text)) else { throw .notAVariable }
  return name
}

func readOutput(_ text: String) throws(ValueProblem) -> OutputDestination {
  if text.isEmpty { throw .emptyFileName }
  if text == "-" { return .standardOutput }
  guard text.hasPrefix("fd:") else { return .file(text) }
  let number = text.dropFirst(3)
  guard number.allSatisfy(isDigit), let descriptor = Int32(number) else { throw .notADescriptor }
  return .descriptor(descriptor)
}

func readRecord(_ text: String) throws(ValueProblem) -> String? {
  if text.isEmpty { throw .emptyFileName }
  if text == "-" || text.hasPrefix("fd:") { throw .onlyAFile }
  return text
}

func readName(_ text: String) throws(ValueProblem) -> String {
  if text.isEmpty { throw .emptyProcessName }
  if let slash = text.lastIndex(of: "/") { throw .pathAsName(String(text[text.index(after: slash)...])) }
  return text
}

func readThread(_ text: String) throws(ValueProblem) -> ThreadChoice {
  switch text {
  case "auto": return .auto
  case "main": return .main
  case "all": return .all
  case "name:": throw .emptyThreadName
  case _ where text.hasPrefix("name:"): return .named(String(text.dropFirst("name:".count)))
  default: break
  }
  do { return .id(try readProcessID(text)) } catch { throw .notAThread }
}

/// A process id is written in one way only: what a shell or a script garbled is asked about, not guessed.
func readProcessID(_ text: String) throws(ValueProblem) -> Int32 {
  let word = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  let sign = word.hasPrefix("-") || word.hasPrefix("+") ? String(word.prefix(1)) : ""
  let digits = word.dropFirst(sign.count)
  guard !digits.isEmpty, digits.allSatisfy(isDigit) else { throw .notAProcessID }
  guard sign != "-", let number = Int32(digits), number > 0 else { throw .processIDOutOfRange }
  guard text == String(number) else { throw .processIDWritten(as: String(number)) }
  return number
}
