// Where the kernel mapped the vDSO into this process, vdso(7).

internal import CLinux

package enum VDSO {
  /// From the auxiliary vector; nil where there is none.
  package static var ownAddress: UInt64? {
    let address = clinux_own_vdso_address()
    return address == 0 ? nil : address
  }
}
