/// The hash that the contents of a file must have.
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
  /// The hash in hexadecimal digits, in lower case.
  public let hexadecimal: String

  /// Creates a SHA-256 checksum (FIPS 180-4).
  ///
  /// - Parameter hexadecimal: The hash in 64 hexadecimal digits of either case. An invalid hash fails the download with
  ///   ``NetworkError/Code-swift.struct/invalidRequest`` before anything is sent.
  /// - Returns: The checksum.
  public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(hexadecimal: hexadecimal.lowercased()) }

  /// The name of the function and the hash.
  public var description: String { "sha256:\(hexadecimal)" }

  /// Throws if the digits are invalid.
  func validate() throws {
    let digits = hexadecimal.utf8
    guard digits.count == 64, digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
      throw NetworkError(
        .invalidRequest, "the checksum \(hexadecimal) is not a SHA-256 hash, which has 64 hexadecimal digits")
    }
  }
}
