#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  public import RequestBehaviors

  /// The linked libcurl.
  ///
  /// It is initialized once, and may be older than the headers of the build.
  package enum CurlLibrary {
    // The flags for SSL and the Win32 sockets: the default of the library.
    private static let everything = 3

    /// Whether the library could be initialized.
    ///
    /// The first access initializes it.
    static let isReady = curl_global_init(everything) == CURLE_OK

    /// The version of the library, such as `7.88.1`.
    static let version = String(cString: facts.pointee.version)

    /// Whether the library speaks HTTP/2.
    static let hasHTTP2 = facts.pointee.features & (1 << 16) != 0

    /// Whether an HTTP/2 connection may carry several requests at a time.
    ///
    /// Before 8.1, a paused transfer can hold up the others of its connection, and cost them the end of their bodies.
    /// Without `Content-Length` such a body would pass as complete.
    package static let canMultiplex = facts.pointee.version_num >= 0x08_01_00

    /// Whether a server hears at once of a request over HTTP/2 that was cancelled.
    ///
    /// 7.88 and 8.12 keep the reset of a stream until the connection has something else to send, which may be never.
    /// 8.16 sends it.
    package static let sendsResetsAtOnce = facts.pointee.version_num >= 0x08_10_00

    /// Whether a handle may serve one transfer after the other.
    ///
    /// From 7.83 to 7.88, a response whose first header line begins with a space makes the library write to memory that
    /// it freed after the handle's last transfer. Any server could crash the process.
    static let canReuseHandles = !(0x07_53_00..<0x08_00_00).contains(facts.pointee.version_num)

    /// The file of the authorities that the library trusts by default; `nil` if it has none.
    static let authorities = facts.pointee.cainfo.map { String(cString: $0) }

    // Functions of the OpenSSL that libcurl has loaded; this module does not link it. They are `nil` if libcurl uses
    // another TLS library. They stay valid for the life of the process, and nothing changes them.
    nonisolated(unsafe) static let opensslPending = rb_curl_find("SSL_has_pending")
    nonisolated(unsafe) static let opensslALPN = rb_curl_find("SSL_get0_alpn_selected")
    nonisolated(unsafe) static let opensslInfoCallback = rb_curl_find("SSL_CTX_set_info_callback")

    // The table stays valid for the life of the process.
    private static var facts: UnsafePointer<curl_version_info_data> { rb_curl_facts() }

    /// Returns the library's text for a result.
    static func text(_ code: CURLcode) -> String { String(cString: curl_easy_strerror(code)) }
  }

  /// An option that the linked libcurl refuses.
  ///
  /// The send fails, because it must not go without the option.
  struct RefusedOption: Error {
    let name: String
    let code: CURLcode

    /// The error for the caller.
    ///
    /// - Parameter errorCode: The code of the error.
    /// - Returns: The error.
    func networkError(_ errorCode: NetworkError.Code = .refusedOption) -> NetworkError {
      NetworkError(
        errorCode, "libcurl \(CurlLibrary.version) does not take \(name): \(CurlLibrary.text(code))")
    }
  }

  extension NetworkError.Code {
    /// The linked libcurl refuses an option that the request or the transport's settings need.
    public static let refusedOption = NetworkError.Code(rawValue: "refusedOption")
  }
#endif
