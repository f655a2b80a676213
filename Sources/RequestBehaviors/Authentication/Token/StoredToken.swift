import Foundation

/// A token as stores of one secret write it: JSON with the number of its format.
enum StoredToken {
  private struct Content: Codable {
    static let currentFormat = 1
    let format: Int
    let token: AccessToken
  }

  /// Returns the bytes for a token.
  ///
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed`` if they could not be read.
  static func encode(_ token: AccessToken) throws -> Data {
    try token.checkReadableAgain()
    return try JSONEncoder().encode(Content(format: Content.currentFormat, token: token))
  }

  /// Returns the token in a store's bytes.
  ///
  /// - Parameters:
  ///   - data: The bytes.
  ///   - place: The source of the bytes, such as `the token file /tmp/token.json`.
  /// - Returns: The token.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/tokenStoreFailed``, which shows no byte of
  ///   them.
  static func decode(_ data: Data, from place: String) throws -> AccessToken {
    guard let content = try? JSONDecoder().decode(Content.self, from: data) else {
      throw NetworkError.tokenStoreFailed(
        "\(place) is damaged; sign in again, or call signOut(), which removes it")
    }
    guard content.format == Content.currentFormat else {
      throw NetworkError.tokenStoreFailed(
        "\(place) has the format \(content.format), this version reads \(Content.currentFormat)")
    }
    return content.token
  }
}
