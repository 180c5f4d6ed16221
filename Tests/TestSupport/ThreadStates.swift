// What `/proc` says of the threads of a test program.

package import Linux

/// The state letter of each thread.
package func threadStates(of processID: Int32) throws(Errno) -> [Int32: Character] {
  var states: [Int32: Character] = [:]
  for thread in try ThreadList.threads(of: processID) {
    guard let text = try? readPseudoFile("/proc/\(processID)/task/\(thread)/stat"),
      let stat = ThreadStat(text.span)
    else { continue }
    states[thread] = Character(Unicode.Scalar(stat.state))
  }
  return states
}

/// A 64-bit number in the memory of a test program.
package func readWord(of processID: Int32, at address: UInt64) throws(Errno) -> UInt64 {
  var word: UInt64 = 0
  _ = try unsafe withUnsafeMutableBytes(of: &word) { buffer throws(Errno) in
    try unsafe ProcessMemory(ofThread: processID).read(at: address, into: buffer)
  }
  return word
}
