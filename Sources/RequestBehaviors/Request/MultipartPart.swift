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
  /// A backslash in it is sent as it is, as browsers send it. Do not let a name or a file's name end in one: some servers
  /// read a backslash before the closing quote as an escape (RFC 9110 §5.6.4), and the name then goes on behind it.
  public let name: String

  /// The name of the file as the server is told; `nil` for what is no file.
  public let filename: String?

  /// The bytes of the part; their media type becomes its `Content-Type`.
  public let content: RequestContent

  private init(_ name: String, _ content: RequestContent, filename: String?) {
    self.name = name
    self.content = content
    self.filename = filename
  }

  /// A field with a text in UTF-8, which is sent as it is and without a media type.
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
  ///   - filename: The name of the file as the server is told; by default none, which makes the part a plain field.
  /// - Returns: The part.
  public static func part(_ name: String, _ content: RequestContent, filename: String? = nil) -> MultipartPart {
    MultipartPart(name, content, filename: filename)
  }

  /// A file, read while the form is sent and never kept in memory whole.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - url: The file.
  ///   - filename: The name that the server is told; by default that of the file.
  ///   - contentType: The media type; by default `application/octet-stream`.
  /// - Returns: The part.
  public static func file(
    _ name: String, _ url: URL, filename: String? = nil, contentType: String = "application/octet-stream"
  ) -> MultipartPart {
    MultipartPart(name, .file(url, contentType: contentType), filename: filename ?? url.lastPathComponent)
  }

  /// The lines that stand before the bytes of the part, with the empty one at their end.
  ///
  /// In names, `"`, CR and LF are replaced as browsers do (HTML, "Multipart form data"), by `%22`, `%0D` and `%0A`: what
  /// a user typed cannot end the line that it stands in. Other characters are sent as they are, in UTF-8.
  ///
  /// - Parameter contentType: The media type of the bytes; `nil` for none.
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
