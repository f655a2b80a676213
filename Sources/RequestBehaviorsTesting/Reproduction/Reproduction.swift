public import Foundation
public import RequestBehaviors

/// A failure to hand on: an archive, a page and a test that fails in the same way, without secrets.
///
/// ```swift
/// do {
///   try await client.send(.get("issues"))
/// } catch let error as NetworkError {
///   try error.reproduction()?.write(to: folder)
/// }
/// ```
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

extension NetworkError {
  /// Returns what is needed to look at the failure and to make it happen again; `nil` if no request was built.
  ///
  /// The error knows the sends, the decisions and the latest response of its call. With a `RecordingBehavior` in the
  /// list, the fields of every response are there too, and the calls that were needed, such as one for a token; with
  /// `bodies: .upTo(…)` also the bodies.
  ///
  /// Secrets are hidden by values of the same type, so that the body of a response still decodes, or does not, as
  /// before. Up to five sends and 2 KiB of bodies are in the source of the test, more are in a cassette beside it.
  ///
  /// - Parameters:
  ///   - name: The name that the files and the suite of tests begin with; characters other than letters and digits are
  ///     left out.
  ///   - redactor: Hides secrets; give it the rules of your logs. By default it is that of the recorder, or else the
  ///     standard one.
  /// - Returns: The reproduction.
  public func reproduction(named name: String = "Failure", redactor: Redactor? = nil) -> Reproduction? {
    guard let call = failedCall(redactor: redactor) else { return nil }
    let letters = name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    let isName = letters.first?.isLetter == true
    let source = ReproducedTest(self, call, name: isName ? letters : "Failure")
    return Reproduction(
      har: call.recording.har(), waterfall: call.recording.waterfall(), test: source.text,
      cassette: source.cassette, name: source.name)
  }
}
