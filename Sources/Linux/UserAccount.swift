// An account of the user database, passwd(5) and group(5).

internal import Glibc

package struct UserAccount: Sendable {
  package let id: UInt32
  package let group: UInt32
  /// All its groups, as initgroups(3) gives them.
  package let groups: [UInt32]
  package let name: String
  package let home: String
  package let shell: String

  /// Nil if there is none of this name.
  package init?(name: String) {
    guard let entry = unsafe getpwnam(name) else { return nil }
    unsafe (id, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    self.name = name
    home = unsafe String(cString: entry.pointee.pw_dir)
    let program = unsafe String(cString: entry.pointee.pw_shell)
    // An empty field means this one, passwd(5).
    shell = program.isEmpty ? "/bin/sh" : program
    groups = Self.groups(of: name, group)
  }

  private static func groups(of name: String, _ group: UInt32) -> [UInt32] {
    var count: Int32 = 64
    while true {
      var groups = [UInt32](repeating: 0, count: Int(count))
      if unsafe getgrouplist(name, group, &groups, &count) >= 0 { return Array(groups.prefix(Int(count))) }
      // Now the number that is needed; NGROUPS_MAX of Linux is 65,536.
      if count > 65_536 || Int(count) <= groups.count { return [group] }
    }
  }

  /// What to call the owner of a process.
  package static func name(of id: UInt32) -> String {
    guard let entry = unsafe getpwuid(id) else { return "\(id)" }
    return unsafe String(cString: entry.pointee.pw_name)
  }
}
