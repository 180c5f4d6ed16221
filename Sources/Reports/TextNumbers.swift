// Numbers as people read them.

internal import StallCore

extension Duration {
  /// `312 µs`, `500 ms`, `1.331 s`, `4 min 12 s`, `2 h 5 min`.
  package var spoken: String {
    let microseconds = wholeMicroseconds
    if microseconds < 1_000 { return "\(microseconds) µs" }
    let milliseconds = (microseconds + 500) / 1_000
    if milliseconds < 1_000 { return "\(milliseconds) ms" }
    if milliseconds < 60_000 { return "\(trimmed(milliseconds, decimals: 3)) s" }
    let seconds = (milliseconds + 500) / 1_000
    if seconds < 3_600 { return joined(seconds / 60, "min", seconds % 60, "s") }
    let minutes = (seconds + 30) / 60
    return joined(minutes / 60, "h", minutes % 60, "min")
  }

  private func joined(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
    "\(large) \(largeUnit)" + (small == 0 ? "" : " \(small) \(smallUnit)")
  }
}

extension Percent {
  /// With one decimal, `99.6 %`, or two where one would say nothing, `0.04 %`. Less than everything is never `100 %`.
  var spoken: String {
    let hundredths = Int64((value * 100).rounded())
    if abs(hundredths) < 10 { return "\(trimmed(hundredths, decimals: 2)) %" }
    let tenths = (hundredths + 5) / 10
    return "\(trimmed(value < 100 ? min(tenths, 999) : tenths, decimals: 1)) %"
  }
}

/// `1,010`
func grouped(_ number: Int) -> String {
  var text = ""
  for (position, digit) in String(number.magnitude).reversed().enumerated() {
    if position > 0, position % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return (number < 0 ? "-" : "") + String(text.reversed())
}

/// `1 stall`, `5 stalls`, `5 passes`
func counted(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// `third`, `21st`, `1,204th`
func ordinal(_ number: Int) -> String {
  let words = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
  if words.indices.contains(number - 1) { return words[number - 1] }
  let isTeen = (11...13).contains(number % 100)
  let ending = isTeen ? "th" : [1: "st", 2: "nd", 3: "rd"][number % 10] ?? "th"
  return grouped(number) + ending
}

/// A number given in tenths, hundredths … without trailing zeros.
private func trimmed(_ number: Int64, decimals: Int) -> String {
  var scale: Int64 = 1
  for _ in 0..<decimals { scale *= 10 }
  var fraction = digits(Int(number.magnitude % scale.magnitude), decimals)
  while fraction.last == "0" { fraction.removeLast() }
  return "\(number / scale)" + (fraction.isEmpty ? "" : ".\(fraction)")
}

func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

func paddedLeft(_ text: String, to width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
