import Dispatch
import Foundation

/// The file of one download, which is kept beside its destination until it is whole.
///
/// The beginning of `report.pdf` is in `report.pdf.partial`. If the download can be resumed, `report.pdf.partial.json`
/// has the ``DownloadRecord``. A name that would become too long is replaced by its hash. The first file is open and
/// locked from the first send to ``release()``, so that no other process downloads to the destination meanwhile. One
/// that is there already is locked from the beginning, because its bytes are counted for the request. All work that may
/// block runs on a queue of its own.
final class DownloadFile: Sendable {
  /// The URL of the finished file.
  let destination: URL
  /// The URL of the unfinished file.
  let partial: URL
  /// The URL of the record of the unfinished file.
  let sidecar: URL
  /// The URL of the file that is written while a body is read from the unfinished one.
  private let copy: URL
  /// The paths of the four files, which no other download may use.
  let places: [String]
  private let queue = BlockingQueue(label: "RequestBehaviors.DownloadFile")
  // This variable and the next three are used on the queue only.
  nonisolated(unsafe) private(set) var file: PartialFile?
  // The offset of the next byte.
  nonisolated(unsafe) private var offset: Int64 = 0
  // The unfinished file that a body is read from.
  nonisolated(unsafe) private var source: PartialFile?
  // Whether the bytes in the file are of this download, or of the one that it resumes.
  nonisolated(unsafe) private var isOurs = false
  /// The attempts that write the file.
  let attempts = Locked(Attempts())
  /// The call that the file belongs to; its owners decide when an unfinished file is removed.
  let call = Locked<Call?>(nil)

  /// Takes a destination, which no other download can use before ``release()``.
  ///
  /// A download waits while the unfinished file of a user who has left is removed there.
  ///
  /// - Throws: ``NetworkError`` of code `fileUnwritable` or `downloadInProgress`.
  static func take(_ destination: URL, forRemoval isRemoval: Bool = false) async throws -> DownloadFile {
    let file = try await FileQueue.run {
      let file = DownloadFile(destination, DownloadFile.place(of: destination))
      try file.check()
      return file
    }
    while let obstacle = DownloadDestinations.shared.insert(file.places, forRemoval: isRemoval) {
      // The removal is the library's own work and is short. The next user's download must not fail because of it.
      guard case .removal(let end) = obstacle else { throw NetworkError.downloadInProgress(file.destination.path) }
      try await end.value()
    }
    do {
      try await file.openIfUnfinished()
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
    copy = partial.appendingPathExtension("copy")
    let folder = URL(fileURLWithPath: place).deletingLastPathComponent()
    places = [place] + [partial, sidecar, copy].map { folder.appendingPathComponent($0.lastPathComponent).path }
  }

  /// Returns the name of the unfinished file: file systems allow 255 bytes.
  private static func partialName(of name: String) -> String {
    guard name.utf8.count + ".partial.json".utf8.count > 255 else { return name + ".partial" }
    return HashFunction.sha256.digest(of: Array(name.utf8)).hexadecimal + ".partial"
  }

  /// Opens the file and locks it, unless it is open.
  ///
  /// - Throws: ``NetworkError`` of code `fileUnwritable`, or `downloadInProgress` if another process has locked it.
  func open() async throws {
    try await run("opened") { [self] in try openNow() }
  }

  private func openNow() throws {
    try verifyOpen()
    if file == nil { file = try PartialFile.open(partial) }
    guard file != nil else { throw NetworkError.downloadInProgress(destination.path) }
  }

  /// Opens and locks an unfinished file that is there, and tries whether a new one can be made.
  ///
  /// A new one is closed and removed until the first send: a process has few descriptors, and many downloads may wait.
  private func openIfUnfinished() async throws {
    // Many downloads may begin at once, and each queue has a thread of its own. The queue for all files has few, so
    // that few new files are open at a time.
    try await FileQueue.run { [self] in
      try queue.sync {
        try described("opened") {
          try openNow()
          guard let file, file.isNew, try file.length() == 0 else { return }
          file.remove()
          self.file = nil
        }.get()
      }
    }
  }

  /// Frees the destination for another download, and removes an unfinished file that cannot be resumed.
  func release() async {
    try? await run { [self] in
      attempts.withLock { $0.areOver = true }
      repeat {
        // While this download had the place, a user signed out whose unfinished file was there before.
        for record in DownloadDestinations.shared.unwanted(at: places) {
          file = file ?? (try? PartialFile.open(partial)).flatMap(\.self)
          try? discardNow(ifOf: record)
        }
        close()
        // Another user may have signed out since.
      } while !DownloadDestinations.shared.remove(places)
    }
  }

  /// Closes the file, and removes it if it cannot be resumed.
  private func close() {
    source?.remove()
    source = nil
    guard let file else { return }
    self.file = nil
    // A file that this download did not write may belong to another program.
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

  /// Begins with an empty file.
  ///
  /// - Parameters:
  ///   - record: The record to resume the download with; `nil` if it cannot be resumed.
  ///   - attempt: The attempt that writes.
  /// - Throws: ``NetworkError`` of code `fileUnwritable`, as all methods that write, or `invalidBehavior` if a later
  ///   attempt has begun.
  func begin(_ record: DownloadRecord?, in attempt: Int) async throws {
    // A response from a cache comes without a send.
    try await open()
    try await run("begun") { [self] in
      try verifyOwner()
      try beginWriting(in: attempt)
      // The old record is removed before the bytes are, and the new one is written last, so that a record never
      // describes other content.
      try DownloadFile.remove(sidecar)
      isOurs = true
      try file?.protect()
      try file?.empty()
      offset = 0
      guard let record else { return }
      try write(record)
      removeWithScope(record)
    }
  }

  /// Begins with an empty file beside the unfinished one.
  ///
  /// A behavior may have made the body of the unfinished file, which is then read while the body is written.
  ///
  /// - Parameter attempt: The attempt that writes.
  /// - Throws: As ``begin(_:in:)``.
  func beginBeside(in attempt: Int) async throws {
    try await run("begun") { [self] in
      guard source == nil, let written = file, try written.length() > 0 else { return }
      guard let other = try PartialFile.open(copy) else { throw NetworkError.downloadInProgress(destination.path) }
      (source, file) = (written, other)
    }
    try await begin(nil, in: attempt)
  }

  /// Returns the hash of the bytes that were written, in hexadecimal digits.
  func digest() async throws -> String {
    let url = try await run { [self] in source == nil ? partial : copy }
    return try await HashFunction.sha256.digest(ofFile: url).hexadecimal
  }

  /// Writes the record of the unfinished file.
  ///
  /// It is written in its place, because a copy under another name would stay if the process were killed. A record that
  /// is cut off cannot be read, so the next download begins anew.
  private func write(_ record: DownloadRecord) throws {
    // Without a record, which another program may have locked, the download goes on and cannot be resumed.
    let file = try PartialFile.open(sidecar)
    try file?.protect()
    try file?.write([UInt8](JSONEncoder().encode(record)), at: 0)
  }

  /// Begins to write after the bytes of an earlier download.
  ///
  /// - Parameters:
  ///   - length: The length after which the rest was asked for.
  ///   - attempt: The attempt that writes.
  /// - Throws: As ``begin(_:in:)``, also if the file has another length now.
  func resume(at length: Int64, in attempt: Int) async throws {
    try await run("opened") { [self] in
      try beginWriting(in: attempt)
      guard try file?.length() == length else {
        // The record does not describe these bytes.
        try DownloadFile.remove(sidecar)
        throw CocoaError.changed(partial.path)
      }
      (offset, isOurs) = (length, true)
      try file?.protect()
    }
  }

  /// Writes bytes at the end.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - attempt: The attempt that writes.
  /// - Throws: As ``begin(_:in:)``, also if the file has another length than was written.
  func write(_ bytes: [UInt8], in attempt: Int) async throws {
    guard !bytes.isEmpty else { return }
    try await run("written") { [self] in
      try verifyOwner()
      try verify(attempt)
      // Bytes after the end of a file that was made shorter would leave a gap.
      if let file, try file.length() != offset {
        try DownloadFile.remove(sidecar)
        throw CocoaError.changed(partial.path)
      }
      try file?.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }

  /// Moves the file to its destination, and replaces a file that is there.
  func commit() async throws {
    try await run("moved to its place") { [self] in
      try verifyOwner()
      try endAttempts()
      guard let file, file.isInPlace, try file.length() == offset else {
        try DownloadFile.remove(sidecar)
        throw CocoaError.changed(partial.path)
      }
      try file.move(to: destination)
      try? DownloadFile.remove(sidecar)
      stayWithScope()
    }
  }

  /// Removes the bytes and the record of the unfinished file, unless they are those of a later attempt.
  func discard(in attempt: Int) async {
    try? await run { [self] in
      try verify(attempt)
      try DownloadFile.remove(sidecar)
      try file?.empty()
      stayWithScope()
    }
  }

  /// Removes the bytes and the record of the unfinished file, if it has a given record.
  func discard(ifOf record: DownloadRecord) async {
    try? await run { [self] in try discardNow(ifOf: record) }
  }

  private func discardNow(ifOf record: DownloadRecord) throws {
    guard let data = try? Data(contentsOf: sidecar), DownloadRecord(data) == record else { return }
    isOurs = true
    try DownloadFile.remove(sidecar)
    try file?.empty()
  }

  /// Arranges that the download which uses a destination removes an unfinished file at its end.
  ///
  /// - Parameters:
  ///   - record: The record of the unfinished file.
  ///   - destination: The destination.
  /// - Returns: `false` if no download of this process uses the destination.
  static func discardLater(ifOf record: DownloadRecord, at destination: URL) async -> Bool {
    let places = try? await FileQueue.run { DownloadFile(destination, DownloadFile.place(of: destination)).places }
    return places.map { DownloadDestinations.shared.discardLater(record, at: $0) } ?? false
  }

  /// Removes a file if it exists; never a folder, which does not belong to a download.
  private static func remove(_ file: URL) throws {
    guard unlink(file.path) == 0 || errno == ENOENT else { throw CocoaError.writing(file.path) }
  }

  private func check() throws {
    guard destination.isFileURL else {
      throw NetworkError.fileUnwritable("the destination \(destination) is not a file URL; make it with URL(filePath:)")
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

  /// Returns the canonical path of a destination: links may give its folder several paths.
  private static func place(of destination: URL) -> String {
    let folder = destination.deletingLastPathComponent().resolvingSymlinksInPath()
    return folder.appendingPathComponent(destination.lastPathComponent).standardizedFileURL.path
  }

  func run<Value: Sendable>(
    _ action: String? = nil, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { [self] in continuation.resume(with: described(action, work)) }
    }
  }

  /// Runs the work, and describes its error as that of the action.
  private func described<Value>(_ action: String?, _ work: () throws -> Value) -> Result<Value, any Error> {
    Result { try work() }.mapError { error -> any Error in
      guard let action, !(error is NetworkError) else { return error }
      return NetworkError.fileUnwritable(
        "the file of the download to \(destination.path) could not be \(action)", error)
    }
  }
}
