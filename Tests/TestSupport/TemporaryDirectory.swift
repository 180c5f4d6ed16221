// A directory for the files of one test, gone when the test is over.

internal import Glibc
package import Linux

package struct TemporaryDirectory: ~Copyable {
  package let path: String

  package init() throws(Errno) {
    var template = Array("/tmp/stallwatch-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Errno(errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// It holds files only.
  deinit {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
          unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        unsafe unlink("\(path)/\(name)")
      }
      unsafe closedir(directory)
    }
    unsafe rmdir(path)
  }
}
