import Foundation

/// Whose file of which URL a download is: only their own half file is gone on with.
struct DownloadOwner: Sendable {
  private let request: NetworkRequest

  /// Creates the owner of a download.
  ///
  /// - Parameter request: The request as it is at the download, with the credentials that were set further out.
  init(_ request: NetworkRequest) { self.request = request }

  /// The key of URL, scopes and credentials, from which none of them can be read.
  func key(salt: Data) -> String {
    let credentials = request.credentialDigest(salt: salt) ?? ""
    let text = ([request.url.absoluteString] + request.call.scopes + [credentials]).joined(separator: "\n")
    return HashFunction.sha256.digest(of: Array(text.utf8)).hexadecimal
  }

  /// Whether a record is of a file that they began.
  func owns(_ record: DownloadRecord) -> Bool { key(salt: record.salt) == record.key }

  /// What a key is made with.
  static func makeSalt() -> Data { Data((0..<16).map { _ in UInt8.random(in: 0...255) }) }
}
