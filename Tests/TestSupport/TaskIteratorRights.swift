// Whether this machine and this user have what the task iterator needs, by what the kernel says of it.

internal import Glibc
internal import Linux

/// Asked before the tests of the iterator, none of which may pass by not running where it should work.
package let isTaskIteratorExpected: Bool = {
  guard let release = KernelRelease.current, release >= KernelRelease(5, 15) else { return false }
  return geteuid() == 0 && RegularFile(path: Array("/sys/kernel/btf/vmlinux".utf8)) != nil
}()
