import Foundation

/// What is kept beside the beginning of a file, so that its rest can be asked for later.
struct DownloadRecord: Sendable, Hashable, Codable {
  /// Whose file of which URL it is, as a hash: neither is to be read from it.
  let key: String
  /// What the key was made with, so that nobody can try which credentials give it.
  let salt: Data
  /// What `If-Range` says of the content that the beginning is of.
  let validator: String
  /// The length of the whole file, if the server said so.
  let total: Int64?
  private let version: Int

  init(key: String, salt: Data, validator: String, total: Int64?) {
    self.key = key
    self.salt = salt
    self.validator = validator
    self.total = total
    version = DownloadRecord.version
  }

  private static let version = 2

  /// Reads a record; `nil` for anything else, and for one of another version.
  init?(_ data: Data) {
    guard let record = try? JSONDecoder().decode(DownloadRecord.self, from: data) else { return nil }
    guard record.version == DownloadRecord.version, HTTPSyntax.isFieldValue(record.validator) else { return nil }
    self = record
  }

  /// The record of what a response begins; `nil` if its rest cannot be asked for.
  ///
  /// - Parameters:
  ///   - headers: The fields of the response.
  ///   - owner: Whose file of which URL it is.
  init?(of headers: HeaderFields, for owner: DownloadOwner) {
    // Ranges count the bytes of the encoded content, and what is written is decoded.
    guard !headers.hasContentEncoding else { return nil }
    if HeaderFields.areEqual(headers["Accept-Ranges"] ?? "", "none") { return nil }
    guard let validator = DownloadRecord.strongValidator(in: headers) else { return nil }
    let salt = DownloadOwner.makeSalt()
    self.init(key: owner.key(salt: salt), salt: salt, validator: validator, total: headers.contentLength)
  }

  /// The validator that differs whenever one byte of the content does (RFC 9110 §8.8.1).
  ///
  /// A date is one only if the response was sent a second or more after it (§8.8.2.2), and if there is no tag (§13.1.5).
  private static func strongValidator(in headers: HeaderFields) -> String? {
    if let tag = headers["ETag"] {
      return tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 1 && HTTPSyntax.isFieldValue(tag) ? tag : nil
    }
    let now = Date(timeIntervalSince1970: 0)
    guard let text = headers["Last-Modified"], let modified = HTTPDate.strictDate(from: text, now: now),
      let sent = headers["Date"].flatMap({ HTTPDate.strictDate(from: $0, now: now) })
    else { return nil }
    return sent.timeIntervalSince(modified) >= 1 ? text : nil
  }

  /// The validator of this kind in a response to a further request; `nil` if it has none.
  private func validator(in headers: HeaderFields) -> String? {
    headers[validator.hasPrefix("\"") ? "ETag" : "Last-Modified"]
  }

  /// Whether a response is of the content that the beginning is of: both have the same validator (RFC 9110 §15.3.7.3).
  func isConfirmed(by headers: HeaderFields) -> Bool { validator(in: headers) == validator }

  /// Whether a response that needs no validator, such as a 416, has another one.
  func isContradicted(by headers: HeaderFields) -> Bool { validator(in: headers).map { $0 != validator } ?? false }
}

extension HeaderFields {
  /// Whether the body was encoded on its way, by compression for example.
  var hasContentEncoding: Bool {
    guard let encoding = self["Content-Encoding"], !encoding.isEmpty else { return false }
    return !HeaderFields.areEqual(encoding, "identity")
  }

  /// The length of the body that the server announced; `nil` if it did not, or of the encoded body.
  var contentLength: Int64? {
    guard !hasContentEncoding, let length = self["Content-Length"].flatMap({ Int64($0) }), length >= 0 else {
      return nil
    }
    return length
  }
}
