// Durations as people write them: 500ms, 1.5s, 2m, 1m30s.

internal import StallCore

private let units: [(name: String, nanoseconds: Int64)] = [
  ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000),
]

/// Ten years: nobody watches longer, and a moment plus this never overflows.
private let longest = Duration.seconds(87_600 * 3_600)

/// Reads a duration greater than zero. `likely` is the unit that is proposed for a bare number.
func readDuration(_ text: String, likely: String) throws(ValueProblem) -> Duration {
  if text.hasPrefix("-") { throw .durationNotPositive }
  if isDecimal(text) {
    guard text.contains(where: { "123456789".contains($0) }) else { throw .durationNotPositive }
    throw .noUnit(likely: likely)
  }
  var rest = text[...]
  var total: Int64 = 0
  var smallerUnits = units[...]
  while !rest.isEmpty {
    let number = rest.prefix { isDigit($0) || $0 == "." }
    let name = rest.dropFirst(number.count).prefix { !isDigit($0) && $0 != "." }
    guard isDecimal(String(number)), let position = smallerUnits.firstIndex(where: { $0.name == name }) else {
      throw .notADuration
    }
    let part = try nanoseconds(of: number, unit: units[position].nanoseconds)
    let (sum, overflow) = total.addingReportingOverflow(part)
    if overflow { throw .tooLong(most: durationText(longest)) }
    total = sum
    smallerUnits = smallerUnits[(position + 1)...]
    rest = rest.dropFirst(number.count + name.count)
  }
  if text.isEmpty { throw .notADuration }
  if total == 0 { throw .durationNotPositive }
  if .nanoseconds(total) > longest { throw .tooLong(most: durationText(longest)) }
  return .nanoseconds(total)
}

/// In the largest unit that gives a whole number, as it can be typed again.
func durationText(_ duration: Duration) -> String {
  let nanoseconds = duration.nanoseconds
  let unit = units.first { nanoseconds % $0.nanoseconds == 0 } ?? ("us", 1_000)
  return "\(nanoseconds / unit.nanoseconds)\(unit.name)"
}

/// Digits with at most one point among or before them: what `Double` takes, less `nan`, `inf`, `0x1p3` and `1e9`.
func isDecimal(_ text: String) -> Bool {
  text.allSatisfy { isDigit($0) || $0 == "." } && text.contains(where: isDigit)
    && text.count(where: { $0 == "." }) <= 1
}

func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) && character.utf8.count == 1 }

private func nanoseconds(of number: Substring, unit: Int64) throws(ValueProblem) -> Int64 {
  let parts = number.split(separator: ".", omittingEmptySubsequences: false)
  guard let whole = Int64(parts[0].isEmpty ? "0" : parts[0]) else {
    throw .tooLong(most: durationText(longest))
  }
  var (result, overflow) = whole.multipliedReportingOverflow(by: unit)
  var place = unit
  for digit in parts.dropFirst().first ?? "" {
    place /= 10
    let (sum, tooLarge) = result.addingReportingOverflow(place * Int64(digit.wholeNumberValue ?? 0))
    (result, overflow) = (sum, overflow || tooLarge)
  }
  if overflow { throw .tooLong(most: durationText(longest)) }
  return result
}
