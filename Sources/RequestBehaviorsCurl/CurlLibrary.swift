#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  public import RequestBehaviors

  /// The libcurl that is linked: it is made ready once, and may be older than the headers of the build.
  enum CurlLibrary {
    // SSL and, where it matters, the system's sockets: the default of the library.
    private static let everything = 3

    /// Whether the library could be made ready, which it is on the first look.
    static let isReady = curl_global_init(everything) == CURLE_OK

    /// What the library tells of itself, such as `7.88.1`.
    static let version = String(cString: facts.pointee.version)

    /// Whether the library speaks HTTP/2.
    static let hasHTTP2 = facts.pointee.features & (1 << 16) != 0

    /// Whether a handle may serve one transfer after the other.
    ///
    /// From 7.83 to 7.88 a response whose first header line begins with a space has the library write to memory that it
    /// freed after the handle's last transfer: any server could end the process.
    static let canReuseHandles = !(0x07_53_00..<0x08_00_00).contains(facts.pointee.version_num)

    /// The file of the authorities that the library trusts by default; `nil` if it has none.
    static let authorities = facts.pointee.cainfo.map { String(cString: $0) }

    // Functions of OpenSSL's, which libcurl has loaded and nothing here is linked to; `nil` where it is over another
    // library. They stay where they are for as long as the process lives.
    nonisolated(unsafe) static let opensslPending = rb_curl_find("SSL_has_pending")
    nonisolated(unsafe) static let opensslALPN = rb_curl_find("SSL_get0_alpn_selected")
    nonisolated(unsafe) static let opensslInfoCallback = rb_curl_find("SSL_CTX_set_info_callback")

    // The library has this table for as long as the process lives.
    private static var facts: UnsafePointer<curl_version_info_data> { rb_curl_facts() }

    /// What the library says of a result.
    static func text(_ code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
  }

  /// An option that the linked libcurl does not take: the send fails rather than go without it.
  struct RefusedOption: Error {
    let name: String
    let code: CURLcode

    /// The error for the caller.
    ///
    /// - Parameter errorCode: What the option is about.
    /// - Returns: The error.
    func networkError(_ errorCode: NetworkError.Code = .refusedOption) -> NetworkError {
      NetworkError(
        errorCode, "libcurl \(CurlLibrary.version) does not take \(name): \(CurlLibrary.text(code))")
    }
  }

  extension NetworkError.Code {
    /// The libcurl that is linked does not take an option that the request or the transport's settings need.
    public static let refusedOption = NetworkError.Code(rawValue: "refusedOption")
  }
#endif
