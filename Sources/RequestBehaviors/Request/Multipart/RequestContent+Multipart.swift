extension RequestContent {
  /// Fields and files as `multipart/form-data` (RFC 7578), as an HTML form sends them.
  ///
  /// Files are read while they are sent. The length is sent if all parts have one. The form can be sent again, by a
  /// retry or a redirect, if all parts can. A missing file fails the call with
  /// ``NetworkError/Code-swift.struct/bodyUnreadable`` before anything is sent. A file that changes while it is sent
  /// fails the send.
  public static func multipart(_ parts: [MultipartPart]) -> RequestContent {
    RequestContent(MultipartForm(parts: parts))
  }
}

/// The parts of a form, of which a body is made.
private struct MultipartForm: BodyMaker {
  let parts: [MultipartPart]

  func cancelUnlessConsumed() { for part in parts { part.content.cancelUnlessConsumed() } }

  func makeBody(with encoder: any BodyEncoder, noting note: (String) -> Void) throws -> RequestBody {
    var generator = RandomSource()
    return try MultipartEncoding(parts, encoder: encoder, using: &generator, noting: note).body
  }
}
