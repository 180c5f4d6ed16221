// Sorts symbols by address and rank, in a time that grows with their number alone.

extension [SymbolEntry] {
  private static let digitBits = 11

  /// Digit by digit, the least significant first (Knuth, The Art of Computer Programming 5.2.5); symbols of one address
  /// and rank stay in their order. Of a large program's million symbols comparing would take the longest of all.
  mutating func sortByOrder() {
    guard let first else { return }
    let differing = reduce(0) { $0 | ($1.order ^ first.order) }
    var sorted = self
    let mask = UInt64(1) << UInt64(Self.digitBits) - 1
    for shift in stride(from: UInt64(0), to: 64, by: Self.digitBits) where differing >> shift & mask != 0 {
      var places = [Int](repeating: 0, count: 1 << Self.digitBits)
      for entry in self { places[Int(entry.order >> shift & mask)] += 1 }
      var place = 0
      for digit in places.indices { (places[digit], place) = (place, place + places[digit]) }
      for entry in self {
        let digit = Int(entry.order >> shift & mask)
        sorted[places[digit]] = entry
        places[digit] += 1
      }
      swap(&self, &sorted)
    }
  }
}
