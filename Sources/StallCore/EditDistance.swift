// How near two words are, for asking whether another one was meant.

/// Insertions, deletions and replacements from one text to the other (Wagner and Fischer, 1974), row by row.
package func editDistance<Letter: Equatable>(
  _ first: some Collection<Letter>, _ second: some Collection<Letter>
) -> Int {
  let letters = Array(second)
  var row = Array(0...letters.count)
  for (line, letter) in first.enumerated() {
    var diagonal = row[0]
    row[0] = line + 1
    for column in letters.indices {
      let replaced = diagonal + (letters[column] == letter ? 0 : 1)
      diagonal = row[column + 1]
      row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
    }
  }
  return row[letters.count]
}
