public import Foundation
public import RequestBehaviors

/// A failure that happens again: an archive, a page and a test that fails in the same way, without secrets.
///
/// ```swift
/// let recording = try Recording(har: Data(contentsOf: harFile))
/// try recording.reproduction(named: "Checkout")?.write(to: folder)
/// ```
///
/// The archive is that of the error's `recording(redactor:)`, which needs no module but the core.
///
/// The test runs over a ``MockTransport`` that sends what the server sent. Behaviors are code and cannot be written
/// down, so it calls a function `makeClient(transport:clock:)`, which you write once. Its first test holds as long as
/// the failure is as it was: code, status and number of sends. Its second one holds when the failure is mended.
public struct Reproduction: Sendable {
  /// The calls as an HTTP archive (HAR 1.2).
  public let har: Data
  /// The calls as a page; see `Recording.waterfall(title:)`.
  public let waterfall: Data
  /// The Swift source of the tests.
  public let test: String
  /// The cassette that the tests play; `nil` where the responses are in their source.
  public let cassette: Data?
  /// The name that the files begin with.
  public let name: String

  /// Writes `failure.har`, `failure.html` and `FailureTests.swift`, and the cassette if there is one.
  ///
  /// - Parameter folder: The folder; it is made if it is missing. Files of these names are replaced.
  /// - Throws: The error of the file system.
  public func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let lowercase = name.prefix(1).lowercased() + name.dropFirst()
    try har.write(to: folder.appending(path: "\(lowercase).har"), options: .atomic)
    try waterfall.write(to: folder.appending(path: "\(lowercase).html"), options: .atomic)
    try Data(test.utf8).write(to: folder.appending(path: "\(name)Tests.swift"), options: .atomic)
    try cassette?.write(to: folder.appending(path: "\(name)Tests.har"), options: .atomic)
  }
}

extension Recording {
  /// Returns the reproduction of the failure that a recording was made of; `nil` for any other recording.
  ///
  /// An app that does not have this module hands on the archive of `NetworkError.recording(redactor:)`. Make the test
  /// where you write tests:
  ///
  /// ```swift
  /// let recording = try Recording(har: Data(contentsOf: harFile))
  /// try recording.reproduction(named: "Checkout")?.write(to: folder)
  /// ```
  ///
  /// Up to five sends and 2 KiB of bodies are in the source of the test, more are in a cassette beside it.
  ///
  /// - Parameter name: The name that the files and the suite of tests begin with; characters other than letters and
  ///   digits are left out.
  /// - Returns: The reproduction.
  public func reproduction(named name: String = "Failure") -> Reproduction? {
    guard let failure else { return nil }
    let letters = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let isName = letters.first?.isLetter == true
    let source = ReproducedTest(failure, self, name: isName ? letters : "Failure")
    return Reproduction(
      har: har(), waterfall: waterfall(), test: source.text, cassette: source.cassette, name: source.name)
  }
}

extension NetworkError {
  /// Returns what is needed to look at the failure and to make it happen again; `nil` if no request was built.
  ///
  /// It is the reproduction of its `recording(redactor:)`, for an error that a test or a tool has caught.
  ///
  /// - Parameters:
  ///   - name: The name that the files and the suite of tests begin with; characters other than letters and digits are
  ///     left out.
  ///   - redactor: Hides secrets; give it the rules of your logs. By default it is that of the recorder, or else the
  ///     standard one.
  /// - Returns: The reproduction.
  public func reproduction(named name: String = "Failure", redactor: Redactor? = nil) -> Reproduction? {
    recording(redactor: redactor)?.reproduction(named: name)
  }
}
