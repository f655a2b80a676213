import Foundation

/// The owner of a download of a URL: only the same owner resumes an unfinished file.
struct DownloadOwner: Sendable {
  private let request: NetworkRequest

  /// Creates the owner of a download.
  ///
  /// - Parameter request: The request as it is at the download, with the credentials that were set further out.
  init(_ request: NetworkRequest) { self.request = request }

  /// Returns a key made of URL, owners and credentials, from which none of them can be read.
  func key(salt: Data) -> String {
    let credentials = request.credentialDigest(salt: salt) ?? ""
    let text = ([request.url.absoluteString] + request.call.scopes + [credentials]).joined(separator: "\n")
    return HashFunction.sha256.digest(of: Array(text.utf8)).hexadecimal
  }

  /// Whether a record is of a file that the same owner began.
  func owns(_ record: DownloadRecord) -> Bool { key(salt: record.salt) == record.key }

  /// Returns random bytes to make a key with.
  ///
  /// They are beside the key in the file, so a simulation may decide them.
  static func makeSalt() -> Data { RandomSource.bytes(16) }
}
