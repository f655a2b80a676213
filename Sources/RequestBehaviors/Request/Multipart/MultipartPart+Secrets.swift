import Foundation

/// Finds the secrets of a part, which a server may repeat in the text of an error.
extension MultipartPart {
  /// Returns the text of a part with a sensitive name, and the secrets of one that is JSON or a form.
  ///
  /// - Parameter body: The bytes of the part; those of a file or a stream are not read.
  /// - Returns: The values, as ``Redactor/standard`` finds them.
  func secrets(in body: RequestBody) -> [String] {
    guard let data = body.data, data.count <= Redactor.searchedBodyLimit else { return [] }
    let inside = Redactor.standard.secrets(inBody: data, contentType: body.contentType)
    return Redactor.standard.isSensitive(field: name) ? inside + [String(decoding: data, as: UTF8.self)] : inside
  }
}
