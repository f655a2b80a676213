/// A cassette that cannot be read, written or used as the test wants, with the remedy.
public struct CassetteError: Error, Sendable, CustomStringConvertible {
  /// The problem and its remedy, without secrets.
  public let description: String

  init(_ description: String) { self.description = description }
}
