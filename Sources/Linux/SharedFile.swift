// An open file that several owners hold, closed when the last one lets go.

package final class SharedFile: Sendable {
  package let descriptor: FileDescriptor

  package init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  package var rawDescriptor: Int32 { descriptor.rawValue }
}
