#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// Which proxy a transfer uses, and which hosts have none.
  extension CurlHandle {
    /// Sets the proxy; libcurl itself reads those of the environment and its `no_proxy`.
    func setProxy(_ proxy: CurlTransport.Proxy) throws {
      // The request's fields must go to the server only, not to the proxy.
      try set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE), name: "HEADEROPT")
      try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1, name: "SUPPRESS_CONNECT_HEADERS")
      switch proxy.kind {
      case .environment: return
      case .none: try set(CURLOPT_PROXY, "", name: "PROXY")
      case .url(let url, let user, let password):
        try set(CURLOPT_PROXY, url.absoluteString, name: "PROXY")
        if let user { try set(CURLOPT_PROXYUSERNAME, user, name: "PROXYUSERNAME") }
        if let password { try set(CURLOPT_PROXYPASSWORD, password, name: "PROXYPASSWORD") }
      }
      // Otherwise the environment's list of hosts without a proxy would still apply.
      try set(CURLOPT_NOPROXY, "", name: "NOPROXY")
    }
  }
#endif
