import Dispatch
import Foundation

/// The file of one download: what has come so far, beside its destination, until it is whole.
///
/// What has come of `report.pdf` is in `report.pdf.partial`; if its rest can be asked for later,
/// `report.pdf.partial.json` has the ``DownloadRecord``. A name that would become too long by this is replaced by its
/// hash. The first file is locked until ``release()``, so that no other process downloads to the destination meanwhile.
/// Everything here that may block runs on a queue of its own.
final class DownloadFile: Sendable {
  /// Where the file goes.
  let destination: URL
  /// What has come so far.
  let partial: URL
  private let sidecar: URL
  /// The paths of the three, by which no other download may go.
  private let places: [String]
  private let queue = DispatchQueue(label: "RequestBehaviors.DownloadFile")
  // All used on the queue only.
  nonisolated(unsafe) private var file: PartialFile?
  // Where the next byte goes.
  nonisolated(unsafe) private var offset: Int64 = 0
  // Whether the bytes in the file came by this download, or are the beginning of what it goes on with.
  nonisolated(unsafe) private var isOurs = false
  /// The call that the file is of; it has a scope's leftovers removed.
  let call = Locked<Call?>(nil)

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
    do {
      guard try await file.open() else { throw NetworkError.downloadInProgress(file.destination.path) }
    } catch {
      await file.release()
      throw error
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

  /// Opens the file and locks it; false if another process has it.
  private func open() async throws -> Bool {
    try await run("opened") { [self] in
      file = try PartialFile.open(partial)
      return file != nil
    }
  }

  /// Removes what has come unless its rest can be asked for later, and lets another download have the destination.
  func release() async {
    try? await run { [self] in
      if let file {
        // A file that this download did not write may be of another program.
        let length = (try? file.length()) ?? 0
        let hasRecord = FileManager.default.fileExists(atPath: sidecar.path)
        let hasLeft = call.withLock { $0?.owner.isPresent == false }
        if isOurs, length == 0 || !hasRecord || hasLeft {
          try? DownloadFile.remove(sidecar)
          file.remove()
        } else if file.isNew, length == 0 {
          file.remove()
        }
      }
      file = nil
      DownloadDestinations.shared.remove(places)
    }
  }

  /// What has come earlier, if its rest can be asked for.
  ///
  /// - Parameter owner: Whose file is to be downloaded.
  /// - Returns: The length of it, and its record.
  func resumable(for owner: DownloadOwner) async -> DownloadStep.Partial? {
    let found: DownloadStep.Partial?? = try? await run { [self] in
      guard let record = (try? Data(contentsOf: sidecar)).flatMap({ DownloadRecord($0) }), owner.owns(record) else {
        return nil
      }
      let length = try file?.length() ?? 0
      return length > 0 ? DownloadStep.Partial(record: record, length: length) : nil
    }
    return found ?? nil
  }

  /// Begins with an empty file.
  ///
  /// - Parameter record: What is to be known to ask for the rest; `nil` if it cannot be asked for.
  /// - Throws: ``NetworkError`` of code `fileUnwritable`, as everything here that writes.
  func begin(_ record: DownloadRecord?) async throws {
    try await run("begun") { [self] in
      // The record goes first and comes last: it never is that of other content.
      try DownloadFile.remove(sidecar)
      try verifyOwner()
      isOurs = true
      try file?.protect()
      try file?.empty()
      offset = 0
      guard let record else { return }
      try JSONEncoder().encode(record).write(to: sidecar, options: .atomic)
      chmod(sidecar.path, 0o600)
      removeWithScope(record)
    }
  }

  /// Begins to write after what is there.
  ///
  /// - Parameter length: The length after which the rest was asked for.
  /// - Throws: ``NetworkError`` of code `fileUnwritable`, also if the file has another length now.
  func resume(at length: Int64) async throws {
    try await run("opened") { [self] in
      guard try file?.length() == length else {
        // What the record says is not true of these bytes.
        try DownloadFile.remove(sidecar)
        throw CocoaError.changed(partial.path)
      }
      (offset, isOurs) = (length, true)
      try file?.protect()
    }
  }

  /// Adds bytes.
  func write(_ data: Data) async throws {
    guard !data.isEmpty else { return }
    try await run("written") { [self] in
      try verifyOwner()
      try file?.write(data, at: offset)
      offset += Int64(data.count)
    }
  }

  /// Moves the file to its place, and replaces what is there.
  func commit() async throws {
    try await run("moved to its place") { [self] in
      try verifyOwner()
      guard let file, file.isInPlace, try file.length() == offset else {
        try DownloadFile.remove(sidecar)
        throw CocoaError.changed(partial.path)
      }
      try file.move(to: destination)
      try? DownloadFile.remove(sidecar)
      stayWithScope()
    }
  }

  /// Removes what has come.
  func discard() async {
    try? await run { [self] in
      try DownloadFile.remove(sidecar)
      try file?.empty()
      offset = 0
      stayWithScope()
    }
  }

  /// Removes what has come if a record is of it.
  func discard(ifOf record: DownloadRecord) async {
    try? await run { [self] in
      guard let data = try? Data(contentsOf: sidecar), DownloadRecord(data) == record else { return }
      isOurs = true
      try DownloadFile.remove(sidecar)
      try file?.empty()
    }
  }

  /// Removes a file if there is one; never a folder, which is somebody else's.
  private static func remove(_ file: URL) throws {
    guard unlink(file.path) == 0 || errno == ENOENT else { throw CocoaError.writing(file.path) }
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

  private func run<Value: Sendable>(
    _ action: String? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let path = destination.path
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        let result = Result { try work() }.mapError { error -> any Error in
          guard let action, !(error is NetworkError) else { return error }
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
