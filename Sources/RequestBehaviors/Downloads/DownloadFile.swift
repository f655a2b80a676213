import Dispatch
import Foundation

/// The file of one download: what has come so far, beside its destination, until it is whole.
///
/// What has come of `report.pdf` is in `report.pdf.partial`; if its rest can be asked for later,
/// `report.pdf.partial.json` has the ``DownloadRecord``. A name that would become too long by this is replaced by its
/// hash. Everything here that may block runs on a queue of its own.
final class DownloadFile: Sendable {
  /// Where the file goes.
  let destination: URL
  /// What has come so far.
  let partial: URL
  private let sidecar: URL
  /// The paths of the three, by which no other download may go.
  private let places: [String]
  private let queue = DispatchQueue(label: "RequestBehaviors.DownloadFile")
  // Used on the queue only.
  nonisolated(unsafe) private var handle: FileHandle?
  // Used on the queue only: whether what is in the file came by this download, or is gone on with by it.
  nonisolated(unsafe) private var isOurs = false

  /// Takes a destination, which no other download can have until it is ``release()``d.
  ///
  /// - Throws: ``NetworkError`` of code `fileUnwritable` or `downloadInProgress`.
  static func take(_ destination: URL) async throws -> DownloadFile {
    let file = try await FileQueue.run {
      let file = DownloadFile(destination, DownloadFile.place(of: destination))
      try file.check()
      return file
    }
    guard DownloadDestinations.shared.insert(file.places) else {
      throw NetworkError.downloadInProgress(file.destination.path)
    }
    return file
  }

  private init(_ destination: URL, _ place: String) {
    self.destination = destination.standardizedFileURL
    let name = DownloadFile.partialName(of: destination.lastPathComponent)
    partial = self.destination.deletingLastPathComponent().appendingPathComponent(name)
    sidecar = partial.appendingPathExtension("json")
    let folder = URL(fileURLWithPath: place).deletingLastPathComponent()
    places = [place] + [partial, sidecar].map { folder.appendingPathComponent($0.lastPathComponent).path }
  }

  /// File systems take names of 255 bytes.
  private static func partialName(of name: String) -> String {
    guard name.utf8.count + ".partial.json".utf8.count > 255 else { return name + ".partial" }
    return HashFunction.sha256.digest(of: Array(name.utf8)).hexadecimal + ".partial"
  }

  /// Lets another download have the destination.
  func release() { DownloadDestinations.shared.remove(places) }

  /// What has come earlier, if its rest can be asked for.
  ///
  /// - Parameter key: What is to be downloaded.
  /// - Returns: The length of it, and its record.
  func resumable(for key: String) async -> DownloadStep.Partial? {
    let found: DownloadStep.Partial?? = try? await run { [self] in
      guard let record = (try? Data(contentsOf: sidecar)).flatMap({ DownloadRecord($0) }), record.key == key else {
        return nil
      }
      let length = DownloadFile.length(of: partial)
      return length > 0 ? DownloadStep.Partial(record: record, length: length) : nil
    }
    return found ?? nil
  }

  /// Begins to write an empty file.
  ///
  /// - Parameter record: What is to be known to ask for the rest; `nil` if it cannot be asked for.
  /// - Throws: ``NetworkError`` of code `fileUnwritable`, as everything here that writes.
  func begin(_ record: DownloadRecord?) async throws {
    try await run("begun") { [self] in
      // The record goes first and comes last: it never is that of other content.
      try DownloadFile.remove(sidecar)
      try DownloadFile.remove(partial)
      guard FileManager.default.createFile(atPath: partial.path, contents: nil) else {
        throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: partial.path])
      }
      handle = try FileHandle(forWritingTo: partial)
      isOurs = true
      if let record { try JSONEncoder().encode(record).write(to: sidecar, options: .atomic) }
    }
  }

  /// Begins to write after what is there.
  func resume() async throws {
    try await run("opened") { [self] in
      let opened = try FileHandle(forWritingTo: partial)
      try opened.seekToEnd()
      (handle, isOurs) = (opened, true)
    }
  }

  /// Adds bytes.
  func write(_ data: Data) async throws {
    guard !data.isEmpty else { return }
    try await run("written") { [self] in try handle?.write(contentsOf: data) }
  }

  /// Ends writing.
  func close() async throws {
    try await run("closed") { [self] in
      let opened = handle
      handle = nil
      try opened?.close()
    }
  }

  /// Moves the file to its place, and replaces what is there.
  func commit() async throws {
    try await run("moved to its place") { [self] in
      guard rename(partial.path, destination.path) == 0 else {
        throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: String(cString: strerror(errno))])
      }
      try? DownloadFile.remove(sidecar)
    }
  }

  /// Removes what has come.
  func discard() async {
    try? await run { [self] in remove() }
  }

  /// Removes what has come, unless its rest can be asked for later.
  func discardUnlessResumable() async {
    try? await run { [self] in
      // A file that this download did not write may be anybody's.
      guard isOurs else { return }
      if !FileManager.default.fileExists(atPath: sidecar.path) || DownloadFile.length(of: partial) == 0 { remove() }
    }
  }

  private func remove() {
    try? handle?.close()
    handle = nil
    try? DownloadFile.remove(sidecar)
    try? DownloadFile.remove(partial)
  }

  /// Removes a file if there is one; never a folder, which is somebody else's.
  private static func remove(_ file: URL) throws {
    guard unlink(file.path) != 0, errno != ENOENT else { return }
    throw CocoaError(
      .fileWriteUnknown,
      userInfo: [NSLocalizedDescriptionKey: "\(file.lastPathComponent): \(String(cString: strerror(errno)))"])
  }

  private func check() throws {
    guard destination.isFileURL else {
      throw NetworkError.fileUnwritable("the destination \(destination) is no file URL; make it with URL(filePath:)")
    }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder), isFolder.boolValue {
      throw NetworkError.fileUnwritable("the destination \(destination.path) is a folder; add the name of the file")
    }
    let folder = destination.deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw NetworkError.fileUnwritable("the folder \(folder) of the destination does not exist; make it first")
    }
  }

  /// The one path of a destination, since several ways may lead to its folder.
  private static func place(of destination: URL) -> String {
    let folder = destination.deletingLastPathComponent().resolvingSymlinksInPath()
    return folder.appendingPathComponent(destination.lastPathComponent).standardizedFileURL.path
  }

  private static func length(of file: URL) -> Int64 {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
  }

  private func run<Value: Sendable>(
    _ action: String? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let path = destination.path
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        let result = Result { try work() }.mapError { error -> any Error in
          guard let action else { return error }
          return NetworkError.fileUnwritable("the file of the download to \(path) could not be \(action)", error)
        }
        continuation.resume(with: result)
      }
    }
  }
}

/// The destinations of all downloads of the process.
private final class DownloadDestinations: Sendable {
  static let shared = DownloadDestinations()

  private let lock = NSLock()
  // Protected by `lock`.
  nonisolated(unsafe) private var paths: Set<String> = []

  /// Takes all paths, or none if one is taken.
  func insert(_ wanted: [String]) -> Bool {
    lock.withLock {
      guard paths.isDisjoint(with: wanted) else { return false }
      paths.formUnion(wanted)
      return true
    }
  }

  func remove(_ released: [String]) { lock.withLock { paths.subtract(released) } }
}
