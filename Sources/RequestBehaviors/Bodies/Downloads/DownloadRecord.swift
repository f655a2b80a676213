import Foundation

/// The record that is kept beside an unfinished file, so that the download can be resumed later.
struct DownloadRecord: Sendable, Hashable, Codable {
  /// The owner and the URL as a hash, so that neither can be read from the record.
  let key: String
  /// Random bytes that the key was made with, so that a list of hashes of known credentials cannot be compared with it.
  let salt: Data
  /// The validator of the content, for `If-Range`.
  let validator: String
  /// The place that the content came from as a hash, because a redirect may lead elsewhere the next time.
  let source: String
  /// The length of the whole file, if the server announced it.
  let total: Int64?
  /// Whether the content was proved to be the server's.
  let isProved: Bool
  private let version: Int

  init(key: String, salt: Data, validator: String, source: String, total: Int64?, isProved: Bool = false) {
    self.key = key
    self.salt = salt
    self.validator = validator
    self.source = source
    self.total = total
    self.isProved = isProved
    version = DownloadRecord.version
  }

  private static let version = 3

  /// Reads a record; `nil` for anything else, and for one of another version.
  init?(_ data: Data) {
    guard let record = try? JSONDecoder().decode(DownloadRecord.self, from: data) else { return nil }
    guard record.version == DownloadRecord.version, HTTPSyntax.isFieldValue(record.validator) else { return nil }
    self = record
  }

  /// Creates the record of the file that a response begins; `nil` if its download could not be resumed.
  ///
  /// - Parameters:
  ///   - headers: The fields of the response.
  ///   - url: The URL that the response came from.
  ///   - owner: The owner of the download.
  ///   - isProved: Whether the response was proved to be the server's.
  init?(of headers: HeaderFields, from url: URL, for owner: DownloadOwner, isProved: Bool = false) {
    // Ranges count the bytes of the encoded content, but the file gets the decoded ones.
    guard !headers.hasContentEncoding else { return nil }
    if HeaderFields.areEqual(headers[.acceptRanges] ?? "", "none") { return nil }
    guard let validator = DownloadRecord.strongValidator(in: headers) else { return nil }
    let salt = DownloadOwner.makeSalt()
    self.init(
      key: owner.key(salt: salt), salt: salt, validator: validator,
      source: DownloadRecord.source(url, salt: salt), total: headers.contentLength,
      isProved: isProved)
  }

  /// Returns a hash of a URL without its query, which is another one in each signed link.
  private static func source(_ url: URL, salt: Data) -> String {
    let place = "\(Origin(url)?.description ?? "")\(url.path(percentEncoded: true))"
    return HashFunction.sha256.digest(of: Array(salt) + Array(place.utf8)).hexadecimal
  }

  /// Whether the content came from the place of a URL.
  ///
  /// A validator tells versions of one resource apart: another resource may have the same one (RFC 9110 §8.8.3).
  func isFrom(_ url: URL) -> Bool { DownloadRecord.source(url, salt: salt) == source }

  /// Returns the validator that changes with every byte of the content; `nil` if there is no such validator
  /// (RFC 9110 §8.8.1).
  ///
  /// A date is strong only if the response was sent at least a second after it (§8.8.2.2). It is used only without a
  /// tag (§13.1.5).
  private static func strongValidator(in headers: HeaderFields) -> String? {
    if let tag = headers[.eTag] {
      return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 1 && HTTPSyntax.isFieldValue(tag) ? tag : nil
    }
    let now = Date(timeIntervalSince1970: 0)
    guard let text = headers[.lastModified], let modified = HTTPDate.strictDate(from: text, now: now),
      let sent = headers[.date].flatMap({ HTTPDate.strictDate(from: $0, now: now) })
    else { return nil }
    return sent.timeIntervalSince(modified) >= 1 ? text : nil
  }

  /// Returns the validator of the same kind in a later response; `nil` if the response has no such validator.
  private func validator(in headers: HeaderFields) -> String? {
    headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
  }

  /// Whether a response is of the same content as the unfinished file, by its validator (RFC 9110 §15.3.7.3).
  func isConfirmed(by headers: HeaderFields) -> Bool { validator(in: headers) == validator }

  /// Whether a response that needs no validator, such as a 416, has a different one.
  func isContradicted(by headers: HeaderFields) -> Bool { validator(in: headers).map { $0 != validator } ?? false }
}

extension HeaderFields {
  /// Whether the body was encoded on its way, by compression for example.
  var hasContentEncoding: Bool {
    guard let encoding = self["Content-Encoding"], !encoding.isEmpty else { return false }
    return !HeaderFields.areEqual(encoding, "identity")
  }

  /// The length of the body that the server announced; `nil` if it announced no length or that of an encoded body.
  var contentLength: Int64? {
    guard !hasContentEncoding, let length = self["Content-Length"].flatMap({ Int64($0) }), length >= 0 else {
      return nil
    }
    return length
  }
}
