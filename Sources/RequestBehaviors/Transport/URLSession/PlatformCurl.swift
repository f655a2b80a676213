#if canImport(FoundationNetworking)
  import Foundation

  /// The libcurl by which URLSession sends on Linux.
  enum PlatformCurl {
    /// Whether an upload over HTTP/2 may damage the responses that share its connection: those before 8.1 do.
    ///
    /// With libcurl 7.88 downloads beside an upload that has to wait missed 8 KiB in one place and had them twice in
    /// another, without an error. With 8.23 they did not.
    static let damagesOthers = version.map { $0 < (8, 1) } ?? false

    /// Whether the process ends when a session is released that has idle connections over TLS: it does from 8.9 on.
    ///
    /// Libcurl then takes the time to close such a connection in order, and URLSession does not expect that
    /// (swift-corelibs-foundation issue 5203). Seen with 8.12, 8.19 and 8.23.
    static let failsAtTheEndOfSessions = version.map { $0 >= (8, 9) } ?? false

    /// The major and minor version of the loaded libcurl; `nil` if it cannot be found.
    private static var version: (Int, Int)? {
      typealias Version = @convention(c) () -> UnsafePointer<CChar>?
      guard let symbol = dlsym(nil, "curl_version"), let text = unsafeBitCast(symbol, to: Version.self)() else {
        return nil
      }
      // Such as "libcurl/7.88.1 OpenSSL/3.0.19".
      let name = String(cString: text).split(separator: " ").first ?? ""
      let numbers = name.drop { $0 != "/" }.dropFirst().split(separator: ".").prefix(2).compactMap { Int($0) }
      return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }
  }
#endif
