/// Writes the lines before the bytes of a part, with the names escaped.
extension MultipartPart {
  /// Returns the header lines of the part, with the empty line at their end.
  ///
  /// In names, `"`, CR and LF are replaced by `%22`, `%0D` and `%0A` as browsers do (HTML, "Multipart form data"), so
  /// that user input cannot end its line. Other characters are sent unchanged, in UTF-8.
  ///
  /// - Parameter contentType: The media type of the bytes; `nil` for no `Content-Type`.
  /// - Returns: The lines.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/invalidRequest`` for a media type that could
  ///   end its line.
  func head(contentType: String?) throws -> String {
    var head = "Content-Disposition: form-data; name=\"\(MultipartPart.escape(name))\""
    if let filename { head += "; filename=\"\(MultipartPart.escape(filename))\"" }
    if let contentType {
      guard HTTPSyntax.isFieldValue(contentType) else {
        throw NetworkError(
          .invalidRequest,
          "the media type of the part \(name.debugDescription) has a control character or a space at an end "
            + "(RFC 9110 §5.5)")
      }
      head += "\r\nContent-Type: \(contentType)"
    }
    return head + "\r\n\r\n"
  }

  private static func escape(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes += "%22".utf8
      case UInt8(ascii: "\r"): bytes += "%0D".utf8
      case UInt8(ascii: "\n"): bytes += "%0A".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
