// The descriptors that one poll or select waits on.

/// Up to 64 descriptors, the lowest ones of a larger set: loops keep their own descriptors, which are the old and
/// therefore low ones, and a part of the set is enough to know it again. A value without allocation, made per look.
package struct DescriptorSet: Hashable, Sendable {
  package static let capacity = 64

  private var sorted = InlineArray<64, Int32>(repeating: -1)
  package private(set) var count = 0

  package init() {}

  /// The lowest one.
  package var first: Int32? { count == 0 ? nil : sorted[0] }

  package init(_ descriptors: some Sequence<Int32>) {
    for descriptor in descriptors { insert(descriptor) }
  }

  /// Negative descriptors are ignored, as poll(2) ignores them.
  package mutating func insert(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    var position = count
    while position > 0, sorted[position - 1] > descriptor { position -= 1 }
    if position > 0, sorted[position - 1] == descriptor { return }
    guard position < Self.capacity else { return }
    var index = min(count, Self.capacity - 1)
    while index > position {
      sorted[index] = sorted[index - 1]
      index -= 1
    }
    sorted[position] = descriptor
    count = min(count + 1, Self.capacity)
  }

  package func intersection(_ other: DescriptorSet) -> DescriptorSet {
    var result = DescriptorSet()
    var (left, right) = (0, 0)
    while left < count, right < other.count {
      if sorted[left] == other.sorted[right] {
        result.insert(sorted[left])
        left += 1
        right += 1
      } else if sorted[left] < other.sorted[right] {
        left += 1
      } else {
        right += 1
      }
    }
    return result
  }

  /// One descriptor, of several that are in the other set.
  package func isOne(of other: DescriptorSet) -> Bool {
    count == 1 && other.count > 1 && !intersection(other).isEmpty
  }

  package var isEmpty: Bool { count == 0 }
  package var elements: [Int32] { (0..<count).map { sorted[$0] } }
  /// In ascending order.
  package subscript(index: Int) -> Int32 { sorted[index] }

  package static func == (left: DescriptorSet, right: DescriptorSet) -> Bool {
    left.count == right.count && (0..<left.count).allSatisfy { left.sorted[$0] == right.sorted[$0] }
  }

  package func hash(into hasher: inout Hasher) {
    for index in 0..<count { hasher.combine(sorted[index]) }
  }
}
