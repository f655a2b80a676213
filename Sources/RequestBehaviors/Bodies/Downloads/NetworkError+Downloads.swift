import Foundation

extension NetworkError.Code {
  /// A file could not be written or moved to its place.
  public static let fileUnwritable = Self(rawValue: "fileUnwritable")
  /// Another download to the same file is under way.
  public static let downloadInProgress = Self(rawValue: "downloadInProgress")
  /// The contents of a file do not have the checksum that they must have.
  public static let checksumMismatch = Self(rawValue: "checksumMismatch")
}

extension NetworkError {
  static func fileUnwritable(_ what: String, _ error: (any Error)? = nil) -> NetworkError {
    NetworkError(.fileUnwritable, what, underlyingError: error)
  }

  static func downloadInProgress(_ path: String) -> NetworkError {
    NetworkError(
      .downloadInProgress, "a download to \(path) is under way; wait for it or cancel it, or download to another file")
  }

  static func checksumMismatch(_ found: String, _ wanted: Checksum) -> NetworkError {
    NetworkError(
      .checksumMismatch,
      "the file that came has the checksum sha256:\(found), wanted \(wanted); it was removed")
  }

  static func downloadTooLarge(limit: Int64) -> NetworkError {
    NetworkError(
      .bodyTooLarge,
      "the file is longer than the limit of \(limit) bytes; raise the limit of the download if that is expected")
  }

  /// A body of another length than the server announced.
  static func downloadLength(_ count: Int64, of total: Int64) -> NetworkError {
    NetworkError(
      count < total ? .truncatedBody : .badResponse,
      "the file has \(count) bytes where the server announced \(total)")
  }
}
