import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads and replaces a small secret file; every call blocks.
enum TokenFile {
  /// Tells this process from an earlier one with the same number, as the first of each container has.
  private static let launch = Nonce.make()
  /// The most bytes that a file is read with: a token is short.
  private static let sizeLimit = 1_048_576

  /// Returns the bytes of a file; `nil` if the file does not exist.
  static func read(_ path: String) throws -> Data? {
    // To open a pipe would wait for its writer.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw failure("open", path) }
    defer { close(file) }
    try tighten(file, path)
    // A token is short: a file of more than 1 MiB is another kind of file.
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = systemRead(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read", path) }
      if count == 0 { return data }
      data.append(contentsOf: buffer[..<count])
      guard data.count <= sizeLimit else {
        throw NetworkError.tokenStoreFailed("the token file \(path) is longer than 1 MiB; it holds something else")
      }
    }
  }

  /// Leaves only the owner's rights to a file that another program may have made.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, also if it is a folder, a
  ///   pipe or a device. These keep their rights: a folder of mode 0600 cannot be entered.
  private static func tighten(_ file: Int32, _ path: String) throws {
    guard let found = status({ fstat(file, $0) }) else { throw failure("look at", path) }
    guard found.st_mode & S_IFMT == S_IFREG else {
      throw NetworkError.tokenStoreFailed(
        "the token file \(path) is a folder, a pipe or a device; name a file, such as one in the folder")
    }
    guard found.st_mode & 0o077 != 0 else { return }
    guard fchmod(file, 0o600) == 0 else {
      let mode = String(found.st_mode & 0o777, radix: 8)
      throw NetworkError.tokenStoreFailed(
        "others than its owner may use the token file \(path) (mode 0\(mode)), and this process may not change that; "
          + "give it the mode 0600, or sign in again with another file")
    }
  }

  /// Runs the work while no other process does such work in the same folder.
  ///
  /// A process that is stopped in the middle delays others for one second and no longer, because a sign-out must not
  /// wait. What it was about to put in the place of the file is removed, so that it does not undo the work later.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - own: The temporary file of the work, if it has one.
  ///   - work: The work.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  static func guarding<Value>(_ path: String, own: String? = nil, _ work: () throws -> Value) throws -> Value {
    let folder = (path as NSString).deletingLastPathComponent
    let directory = open(folder, O_RDONLY | O_CLOEXEC)
    defer { if directory >= 0 { FileLock.release(directory) } }
    // Some systems end an app that is suspended while it holds a file lock, so no lock is taken there.
    #if os(macOS) || !canImport(ObjectiveC)
      var isBusy = directory >= 0
      for _ in 0..<200 where isBusy {
        isBusy = FileLock.take(directory) == .busy
        if isBusy { usleep(5_000) }
      }
      if isBusy { removeTemporaries(of: path, besides: own) }
    #endif
    return try work()
  }

  /// Replaces a file as a whole: the bytes are on the disk under another name before the file is renamed.
  ///
  /// A slow disk delays no other process, because the bytes are written before the others are kept out.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - data: The bytes.
  ///   - isExpected: Reads the file, and returns whether it may be replaced.
  /// - Returns: Whether the file was replaced.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  static func replace(_ path: String, with data: Data, if isExpected: () throws -> Bool = { true }) throws -> Bool {
    guard data.count <= sizeLimit else {
      throw NetworkError.tokenStoreFailed("the token is longer than 1 MiB, so it is not stored in \(path)")
    }
    let folder = (path as NSString).deletingLastPathComponent
    // Others that could not wait for this process have removed its bytes. More than two rounds are rare.
    for _ in 0..<8 {
      try makeFolder(folder, of: "token file")
      removeLeftovers(of: path, in: folder)
      let temporary = makeTemporaryName(for: path)
      defer { unlink(temporary) }
      try write(data, to: temporary)
      let isReplaced = try guarding(path, own: temporary) { () -> Bool? in
        guard try isExpected() else { return false }
        if rename(temporary, path) == 0 { return true }
        guard errno == ENOENT else { throw failure("replace", path) }
        return nil
      }
      guard let isReplaced else { continue }
      if isReplaced { synchronize(folder) }
      return isReplaced
    }
    errno = EBUSY
    throw failure("replace", path)
  }

  /// Removes a file, and the leftovers of attempts to replace it.
  ///
  /// The file gets another name before it is removed. So a process that was stopped in the middle sees that it has the
  /// file of another process, and puts it back.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isExpected: Reads the file, and returns whether it may be removed.
  /// - Returns: Whether it was removed, or was not there.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  @discardableResult
  static func remove(_ path: String, if isExpected: () throws -> Bool = { true }) throws -> Bool {
    let folder = (path as NSString).deletingLastPathComponent
    removeLeftovers(of: path, in: folder)
    return try guarding(path) {
      // Each round but the last meets another process that was faster.
      for _ in 0..<8 {
        // The file is open until it is removed, so no other file gets its number meanwhile.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if file >= 0 { close(file) } }
        guard try isExpected() else { return false }
        if try take(file, away: path) {
          synchronize(folder)
          return true
        }
      }
      errno = EBUSY
      throw failure("remove", path)
    }
  }

  /// Removes a file, unless another one is in its place meanwhile.
  ///
  /// - Parameters:
  ///   - file: The open file; negative if it could not be opened.
  ///   - path: The path of the file.
  /// - Returns: Whether there is no file any more; false if there is another one, which stays.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``.
  private static func take(_ file: Int32, away path: String) throws -> Bool {
    guard let opened = status({ fstat(file, $0) }), opened.st_mode & S_IFMT == S_IFREG else {
      // Another kind of file is not moved, and a file that may not be read is not known again.
      guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw failure("remove", path) }
      return true
    }
    let removed = makeTemporaryName(for: path)
    guard rename(path, removed) == 0 else {
      guard errno == ENOENT else { throw failure("remove", path) }
      return true
    }
    defer { unlink(removed) }
    if let found = status({ stat(removed, $0) }), found.st_dev == opened.st_dev, found.st_ino == opened.st_ino {
      return true
    }
    // If a third process has stored a still newer one, that one stays. Some file systems have no links.
    if link(removed, path) != 0, errno != EEXIST { _ = rename(removed, path) }
    return false
  }

  private static func status(_ read: (UnsafeMutablePointer<stat>) -> Int32) -> stat? {
    var status = stat()
    return read(&status) == 0 ? status : nil
  }

  private static func makeTemporaryName(for path: String) -> String {
    "\(temporaryPrefix(of: path))\(getpid()).\(launch).\(Nonce.make())"
  }

  private static func write(_ data: Data, to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("create", path) }
    defer { close(file) }
    // The umask of the process may have removed rights that the owner needs.
    guard fchmod(file, 0o600) == 0 else { throw failure("protect", path) }
    try keepOnDevice(path)
    // One call may write only a part.
    var rest = [UInt8](data)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write", path) }
      rest = rest.dropFirst(count)
    }
    guard isOnDisk(file) else { throw failure("write", path) }
  }

  /// Waits until the bytes of a file are on the disk; returns false and sets `errno` if that fails.
  private static func isOnDisk(_ file: Int32) -> Bool {
    #if canImport(ObjectiveC)
      // There fsync leaves the bytes in the drive's cache; not every file system supports more (Darwin: fsync(2)).
      if fcntl(file, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(file) == 0
  }

  /// Encrypts a file until the first unlock and leaves it out of backups, on systems that can.
  private static func keepOnDevice(_ path: String) throws {
    #if canImport(ObjectiveC)
      do {
        #if !os(macOS)
          try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path)
        #endif
        var url = URL(filePath: path)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
      } catch {
        throw NetworkError.tokenStoreFailed("could not protect the token file \(path)", error)
      }
    #endif
  }

  static func makeFolder(_ folder: String, of file: String) throws {
    guard !FileManager.default.fileExists(atPath: folder) else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw NetworkError.tokenStoreFailed("the folder \(folder) of the \(file) cannot be made", error)
    }
  }

  private static func temporaryPrefix(of path: String) -> String {
    let folder = (path as NSString).deletingLastPathComponent
    return (folder as NSString).appendingPathComponent(".\((path as NSString).lastPathComponent).")
  }

  /// Removes the temporary files of processes that ended while they wrote: they may hold tokens.
  private static func removeLeftovers(of path: String, in folder: String) {
    for (name, process, start) in temporaries(of: path, in: folder) where start != launch {
      let isOver = process == getpid() || (kill(process, 0) != 0 && errno == ESRCH)
      if isOver { unlink((folder as NSString).appendingPathComponent(name)) }
    }
  }

  /// Removes the temporary files of all processes, but one: those that they belong to must write them again.
  private static func removeTemporaries(of path: String, besides own: String?) {
    let folder = (path as NSString).deletingLastPathComponent
    for (name, _, _) in temporaries(of: path, in: folder) where name != (own as NSString?)?.lastPathComponent {
      unlink((folder as NSString).appendingPathComponent(name))
    }
  }

  private static func temporaries(
    of path: String, in folder: String
  ) -> [(name: String, process: Int32, launch: Substring)] {
    let prefix = (temporaryPrefix(of: path) as NSString).lastPathComponent
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.compactMap { name in
      let parts = name.dropFirst(prefix.count).split(separator: ".")
      guard parts.count == 3, let process = Int32(parts[0]) else { return nil }
      return (name, process, parts[1])
    }
  }

  private static func synchronize(_ folder: String) {
    let directory = open(folder, O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { return }
    _ = fsync(directory)
    close(directory)
  }

  static func failure(_ action: String, _ path: String, _ what: String = "the token file") -> NetworkError {
    let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
    return NetworkError.tokenStoreFailed("could not \(action) \(what) \(path): \(reason)")
  }
}

// Inside the type its own `read` and `write` hide those of the system.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}

private func systemWrite(_ file: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
  write(file, buffer, count)
}
