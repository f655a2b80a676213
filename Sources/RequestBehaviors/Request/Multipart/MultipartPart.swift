public import Foundation

/// A field or a file of a `multipart/form-data` body (RFC 7578).
///
/// ```swift
/// let form = RequestContent.multipart([
///   .field("title", "Holiday"),
///   .file("photo", photo, contentType: "image/jpeg"),
/// ])
/// try await client.send(.post("photos", body: form))
/// ```
public struct MultipartPart: Sendable {
  /// The name of the field.
  ///
  /// A backslash in it is sent unchanged, as browsers do. Do not end a name or a file's name with a backslash: some
  /// servers read one before the closing quote as an escape (RFC 9110 §5.6.4), and the name then continues after the
  /// quote.
  public let name: String

  /// The name of the file that the server gets; `nil` for a part that is not a file.
  public let filename: String?

  /// The bytes of the part; their media type becomes its `Content-Type`.
  public let content: RequestContent

  private init(_ name: String, _ content: RequestContent, filename: String?) {
    self.name = name
    self.content = content
    self.filename = filename
  }

  /// A text field in UTF-8, sent unchanged and without a media type.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - value: The text.
  /// - Returns: The part.
  public static func field(_ name: String, _ value: String) -> MultipartPart {
    MultipartPart(name, .body(.data(Data(value.utf8))), filename: nil)
  }

  /// A field with any content, such as `.json(settings)` or `.stream { … }`.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - content: The bytes and their media type.
  ///   - filename: The name of the file that the server gets; by default none, which makes the part a plain field.
  /// - Returns: The part.
  public static func part(_ name: String, _ content: RequestContent, filename: String? = nil) -> MultipartPart {
    MultipartPart(name, content, filename: filename)
  }

  /// A file, read while the form is sent and never held in memory as a whole.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - url: The file.
  ///   - filename: The name of the file that the server gets; by default the file's own.
  ///   - contentType: The media type; by default `application/octet-stream`.
  /// - Returns: The part.
  public static func file(
    _ name: String, _ url: URL, filename: String? = nil, contentType: String = "application/octet-stream"
  ) -> MultipartPart {
    MultipartPart(name, .file(url, contentType: contentType), filename: filename ?? url.lastPathComponent)
  }

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
