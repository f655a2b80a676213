import Foundation
import RequestBehaviors

/// The file of a cassette, and the folder with its larger bodies.
struct CassetteFile: Sendable {
  let url: URL
  /// The name of the file, for messages.
  var name: String { url.lastPathComponent }
  /// The name of the test's file, for the command that records.
  let filter: String

  /// The files that are being recorded in this process, and the test that records each.
  private static let recording = Locked<[String: String]>([:])

  /// Finds the file of a test: `Cassettes/IssueTests.issuesOfARepository.har` beside the test's source.
  init(_ name: String?, directory: String, file: String, function: String) {
    let source = URL(filePath: file)
    let base = source.deletingPathExtension().lastPathComponent
    filter = base
    // The list of parameters begins at the last bracket; a raw name may have others.
    let test = function[..<(function.lastIndex(of: "(") ?? function.endIndex)]
    let own =
      "\(base).\(String(test.map { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : "-" }))"
    let folder =
      directory.hasPrefix("/")
      ? URL(filePath: directory, directoryHint: .isDirectory)
      : source.deletingLastPathComponent().appending(path: directory, directoryHint: .isDirectory)
    url = folder.appending(path: "\(name ?? own).har")
  }

  var folder: URL { url.deletingLastPathComponent() }
  var bodiesFolder: String { url.deletingPathExtension().lastPathComponent + ".bodies" }
  var exists: Bool { FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) }

  /// Reads the entries; a missing file has none.
  ///
  /// - Throws: ``CassetteError`` with the place that is wrong.
  func read(_ redaction: PlayableRedaction) throws -> [CassetteEntry] {
    guard exists else { return [] }
    let data = try Data(contentsOf: url)
    let json: OrderedJSON
    do { json = try OrderedJSON(parsing: data) } catch {
      let hasConflict = data.firstRange(of: Data("<<<<<<< ".utf8)) != nil
      let reason = hasConflict ? "a merge left its marks in it" : "\(error)"
      throw CassetteError("\(name) cannot be read: \(reason); restore it, or remove it and record it again")
    }
    guard let entries = json["log"]?["entries"] else {
      throw CassetteError("\(name) is not an HTTP archive (HAR 1.2): it has no member log with entries")
    }
    return try entries.elements.enumerated().map { index, entry in
      try CassetteEntry(entry, number: index + 1, in: name, redaction)
    }
  }

  /// Writes the entries, and the bodies first, so that no entry lacks its body.
  func write(_ entries: [OrderedJSON], _ bodies: CassetteBodies, limit: Int) throws {
    let creator = OrderedJSON.members([
      "name": .string("RequestBehaviors"), "version": .string("1"),
    ])
    let log = OrderedJSON.members([
      "version": .string("1.2"), "creator": creator, "entries": .array(entries),
    ])
    let data = OrderedJSON.members(["log": log]).data()
    let size = bodies.files.values.reduce(data.count) { $0 + $1.count }
    guard size <= limit else {
      throw CassetteError(
        "\(name) would have \(size) bytes, and \(limit) are allowed; record less, or pass a larger sizeLimit"
      )
    }
    let bodiesURL = folder.appending(path: bodiesFolder, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: bodies.files.isEmpty ? folder : bodiesURL, withIntermediateDirectories: true)
    for (name, body) in bodies.files {
      let place = bodiesURL.appending(path: name)
      if (try? Data(contentsOf: place)) != body { try body.write(to: place, options: .atomic) }
    }
    if (try? Data(contentsOf: url)) != data { try data.write(to: url, options: .atomic) }
    removeBodies(unusedBy: data, in: bodiesURL)
  }

  private func removeBodies(unusedBy cassette: Data, in folder: URL) {
    let text = String(decoding: cassette, as: UTF8.self)
    let names =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)))
      ?? []
    for name in names where !text.contains("/\(name)\"") {
      try? FileManager.default.removeItem(at: folder.appending(path: name))
    }
  }

  // MARK: One process

  /// The entries that transports of this process have written, by file.
  private static let written = Locked<[String: Set<String>]>([:])

  /// The entries that earlier transports of this process have written: another test may need them.
  var linesOfProcess: Set<String> {
    CassetteFile.written.withLock { $0[url.path(percentEncoded: false)] ?? [] }
  }

  func note(written entries: [OrderedJSON]) {
    CassetteFile.written.withLock { $0[url.path(percentEncoded: false), default: []].formUnion(entries.map(\.line)) }
  }

  // MARK: One writer

  /// Makes a test the one that records the file in this process.
  ///
  /// - Throws: ``CassetteError`` that names both tests if another one records it.
  func beginRecording(by test: String) throws {
    let path = url.path(percentEncoded: false)
    let other = CassetteFile.recording.withLock { recording -> String? in
      if let other = recording[path] { return other }
      recording[path] = test
      return nil
    }
    guard let other else { return }
    throw CassetteError(
      "\(test) and \(other) record \(name) at the same time; give one of them another name, or shut the first down"
    )
  }

  func endRecording() {
    let path = url.path(percentEncoded: false)
    CassetteFile.recording.withLock { _ = $0.removeValue(forKey: path) }
  }

  /// Runs a change of the file while no other process changes one of its folder.
  ///
  /// The folder itself is locked, because a lock file would stay for ever, and belong to the user who was first.
  func locked<Result>(_ change: () throws -> Result) throws -> Result {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let descriptor = open(folder.path(percentEncoded: false), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CassetteError("the folder of \(name) cannot be locked: errno \(errno) for \(folder.path())")
    }
    defer { FileLock.release(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw CassetteError("the folder of \(name) cannot be locked: errno \(errno)") }
    }
    return try change()
  }
}
