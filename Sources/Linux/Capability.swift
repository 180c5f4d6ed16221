// The capabilities that matter here, capabilities(7).

package enum Capability: UInt64 {
  /// May look into the processes of others and trace them.
  case systemPtrace = 19

  package func isIn(_ mask: UInt64) -> Bool { mask & 1 << rawValue != 0 }
}
