public import Foundation

extension Redactor {
  /// Returns a URL as text, without user info and fragment, and with query values hidden unless their name is allowed.
  ///
  /// The path is shown, except for segments that are a JSON Web Token. Of a URL without an authority, such as `data:`
  /// or `mailto:`, only the scheme is shown.
  ///
  /// - Parameter url: The URL; a relative one is resolved against its base first.
  /// - Returns: Text to read, which is not always a valid URL.
  public func redact(_ url: URL) -> String { redact(urlReference: url.absoluteString) }

  /// Redacts a URL or a relative reference, such as the value of `Location`.
  package func redact(urlReference text: String) -> String {
    var text = text
    let shown = text.withUTF8 { bytes in
      var redaction = URLRedaction(bytes: bytes, rules: rules)
      return redaction.run().map { String(decoding: $0, as: UTF8.self) }
    }
    return knownSecrets.hide(in: shown ?? text)
  }
}
