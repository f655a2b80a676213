import Foundation

/// The unfinished file of a download, open and locked against other processes.
///
/// The file at the path is never replaced while it is open, so that the lock is that of the file at the path. All calls
/// may block.
final class PartialFile {
  /// Whether the file was created here.
  let isNew: Bool
  private let path: String
  private let descriptor: Int32

  private init(_ path: String, _ descriptor: Int32, isNew: Bool) {
    self.path = path
    self.descriptor = descriptor
    self.isNew = isNew
  }

  deinit { FileLock.release(descriptor) }

  /// Opens a file, or makes an empty one, and locks it.
  ///
  /// - Returns: The file; `nil` if another process has it locked.
  /// - Throws: `CocoaError` for a path that cannot be opened, for a link, and for anything else that is not a regular
  ///   file.
  static func open(_ url: URL) throws -> PartialFile? {
    for _ in 0..<100 {
      guard let file = try openUnlocked(url.path) else { continue }
      guard try file.status().st_mode & S_IFMT == S_IFREG else { throw CocoaError.writing(url.path, EINVAL) }
      if FileLock.take(file.descriptor) == .busy { return nil }
      // Before it freed the lock, another process may have moved or removed the file.
      if file.isInPlace { return file }
    }
    return nil
  }

  /// Opens a file or makes one; `nil` if it was removed between the two.
  private static func openUnlocked(_ path: String) throws -> PartialFile? {
    let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC
    let made = Foundation.open(path, flags | O_CREAT | O_EXCL, 0o600)
    if made >= 0 { return PartialFile(path, made, isNew: true) }
    guard errno == EEXIST else { throw CocoaError.writing(path) }
    let opened = Foundation.open(path, flags)
    if opened >= 0 { return PartialFile(path, opened, isNew: false) }
    guard errno == ENOENT else { throw CocoaError.writing(path) }
    return nil
  }

  /// Whether the file at the path is this one.
  var isInPlace: Bool {
    var there = stat()
    guard let own = try? status(), lstat(path, &there) == 0 else { return false }
    return own.st_dev == there.st_dev && own.st_ino == there.st_ino
  }

  /// The number of bytes in the file.
  func length() throws -> Int64 { Int64(try status().st_size) }

  private func status() throws -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw CocoaError.writing(path) }
    return status
  }

  /// Writes bytes at an offset, whatever the length of the file is.
  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
        if count > 0 {
          written += count
        } else if errno != EINTR {
          throw CocoaError.writing(path)
        }
      }
    }
  }

  /// Lets only the file's owner read it.
  func protect() throws {
    guard fchmod(descriptor, 0o600) == 0 else { throw CocoaError.writing(path) }
  }

  /// The permissions that the process's mask gives to a new file; making a file is the way to read them without
  /// changing the mask.
  private var ordinaryMode: mode_t {
    // The name is a new one, and nothing that is there already is opened: another file or link may have any name.
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    let probe = folder.appendingPathComponent(".\(RandomSource.uniqueName()).mode").path
    let made = Foundation.open(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    guard made >= 0 else { return 0o600 }
    defer {
      Foundation.close(made)
      unlink(probe)
    }
    var status = stat()
    return fstat(made, &status) == 0 ? status.st_mode & 0o777 : 0o600
  }

  /// Removes all bytes of the file.
  func empty() throws {
    guard ftruncate(descriptor, 0) == 0 else { throw CocoaError.writing(path) }
  }

  /// Moves the file to another path in one step, and replaces a file that is there.
  ///
  /// - Parameter url: The new path.
  /// - Throws: `CocoaError` if it cannot be moved.
  func move(to url: URL) throws {
    guard fchmod(descriptor, ordinaryMode) == 0 else { throw CocoaError.writing(path) }
    guard rename(path, url.path) == 0 else {
      let code = errno
      // It is unfinished again, and may belong to a user.
      try? protect()
      throw CocoaError.writing(url.path, code)
    }
  }

  /// Removes the file, unless another one is at its path.
  func remove() {
    if isInPlace { unlink(path) }
  }
}
