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
}
