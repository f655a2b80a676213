#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The identity of a file, which differs from that of a later file at the same path.
struct FileIdentity: Sendable, Equatable {
  private let device: UInt64
  private let number: UInt64

  private init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
  }

  /// Reads the identity of a file; `nil` if the file does not exist or cannot be looked at.
  init?(_ path: String) {
    guard case .file(let found) = Look(at: path) else { return nil }
    self = found
  }

  /// The result of one look at a path.
  ///
  /// It is one question for the system: after a file that is missing, a second question may find a file that was made
  /// meanwhile.
  enum Look {
    case file(FileIdentity)
    case missing
    /// The process may not look into the folder.
    case hidden

    init(at path: String) {
      var status = stat()
      if stat(path, &status) == 0 {
        self = .file(FileIdentity(status))
      } else {
        self = errno == ENOENT || errno == ENOTDIR ? .missing : .hidden
      }
    }
  }
}
