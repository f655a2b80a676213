import Foundation
import RequestBehaviors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of the attachments of a file's outboxes.
struct OutboxFiles: Sendable {
  static let collectorKey = CodingUserInfoKey(rawValue: "RequestBehaviors.Outbox.collector")
  static let folderKey = CodingUserInfoKey(rawValue: "RequestBehaviors.Outbox.folder")

  /// The prefix of files that are being taken over; the time at which that began follows.
  ///
  /// Such a file still has the dates of the original. It may be the only copy of a file that is moved.
  private static let unfinished = "new-"

  /// The age from which a file that no entry has is removed.
  static let ageOfOrphans: TimeInterval = 86_400

  /// Collects the names of the attachments that are encoded.
  final class Collector: Sendable {
    private let list = Locked<[String]>([])
    var names: [String] { list.withLock { $0 } }
    func add(_ name: String) { list.withLock { $0.append(name) } }
  }

  let folder: URL

  /// Creates the folder's description; nil for a database in memory.
  init?(of store: SQLiteStore) {
    guard store.path != ":memory:" else { return nil }
    folder = URL(filePath: store.state.file + "-outbox", directoryHint: .isDirectory)
  }

  /// Copies or moves a file into the folder; it survives a power cut when this returns.
  func add(_ file: URL, moving: Bool, now: Date) async throws -> URL {
    let folder = folder
    return try await withCheckedThrowingContinuation { continuation in
      BlockingQueue.background {
        continuation.resume(with: Result { try Self.add(file, to: folder, moving: moving, now: now) })
      }
    }
  }

  private static func add(_ file: URL, to folder: URL, moving: Bool, now: Date) throws -> URL {
    let files = FileManager.default
    // A copy of a link would change with the file that it names.
    let file = file.resolvingSymlinksInPath()
    let type = try files.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
    guard type == .typeRegular else {
      throw SQLiteError(.misuse, "only a file can be attached, and no folder, pipe or device", path: file.path)
    }
    try files.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // The name of a file has 255 bytes at most.
    let hasExtension = !file.pathExtension.isEmpty && file.pathExtension.utf8.count <= 32
    let name = RandomSource.uuid() + (hasExtension ? "." + file.pathExtension : "")
    let temporary = folder.appending(path: "\(unfinished)\(now.storedTime)-\(name)")
    let target = folder.appending(path: name)
    // The only copy of a file that is moved.
    var place = file
    do {
      if moving { try files.moveItem(at: file, to: temporary) } else { try files.copyItem(at: file, to: temporary) }
      place = temporary
      // The age of the copy counts, and not that of the original.
      try files.setAttributes([.modificationDate: now, .posixPermissions: 0o600], ofItemAtPath: temporary.path)
      try sync(temporary.path)
      try files.moveItem(at: temporary, to: target)
      place = target
      try sync(folder.path)
    } catch {
      if moving, place != file { try? files.moveItem(at: place, to: file) }
      if !moving { for copy in [temporary, target] { try? files.removeItem(at: copy) } }
      throw error
    }
    return target
  }

  /// Waits until a file or folder is on the disk.
  private static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  /// Removes files of entries that have ended.
  func remove(_ names: [String]) {
    guard !names.isEmpty else { return }
    let urls = names.map { folder.appending(path: $0) }
    BlockingQueue.background { for url in urls { try? FileManager.default.removeItem(at: url) } }
  }

  /// Returns the names that have no file.
  func missing(_ names: [String]) -> [String] {
    names.filter { !FileManager.default.fileExists(atPath: folder.appending(path: $0).path) }
  }

  /// Returns when a file began to be taken over; nil for one that has been.
  private static func beginning(ofTaking name: String) -> Date? {
    guard name.hasPrefix(unfinished) else { return nil }
    return Int64(name.dropFirst(unfinished.count).prefix { $0 != "-" }).map { Date(storedTime: $0) }
  }

  /// Removes files that no entry has, if they are older than a day; a younger one may be enqueued yet.
  func sweep(keeping kept: Set<String>, now: Date) {
    let files = FileManager.default
    for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? [] where !kept.contains(name) {
      let path = folder.appending(path: name).path
      let changed = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
      let since = Self.beginning(ofTaking: name) ?? changed
      if let since, now.timeIntervalSince(since) > Self.ageOfOrphans { try? files.removeItem(atPath: path) }
    }
  }
}
