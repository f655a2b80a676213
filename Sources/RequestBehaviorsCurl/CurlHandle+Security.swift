#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  extension CurlHandle {
    /// Sets the security options for all hosts.
    ///
    /// An option that the library refuses is an error: no request is sent with less security.
    func setSecurity(_ configuration: CurlTransport.Configuration) throws {
      let least = configuration.minimumTLSVersion.minor == 3 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
      try set(CURLOPT_SSLVERSION, Int(least), name: "SSLVERSION")
      try set(CURLOPT_PROXY_SSLVERSION, Int(least), name: "PROXY_SSLVERSION")
      try set(CURLOPT_SSL_VERIFYPEER, 1, name: "SSL_VERIFYPEER")
      try set(CURLOPT_SSL_VERIFYHOST, 2, name: "SSL_VERIFYHOST")
      // Only a libcurl over OpenSSL has this option.
      if configuration.requiresTLSClosure { _ = rb_curl_set_ssl_callback(easy, curlPreparesTLS) }
      do {
        try setAuthorities(configuration.trust.basis, proxy: configuration.proxy)
        if let host = configuration.proxy.securedHost {
          let pins = pinText(configuration.trust.pins(for: host))
          try set(CURLOPT_PROXY_PINNEDPUBLICKEY, pins, name: "PROXY_PINNEDPUBLICKEY")
        }
      } catch let error as RefusedOption {
        throw error.networkError(.unsupportedTrust)
      }
    }

    private func setAuthorities(_ basis: TrustPolicy.Basis, proxy: CurlTransport.Proxy) throws {
      switch basis {
      case .system: return
      case .anchors(let certificates, let besidesSystem):
        var bundle = Data(certificates.map(\.pem).joined().utf8)
        if besidesSystem {
          guard let path = CurlLibrary.authorities, let system = FileManager.default.contents(atPath: path) else {
            throw NetworkError(
              .unsupportedTrust,
              "libcurl \(CurlLibrary.version) has no file of the system's authorities; list all authorities in the "
                + "policy, and leave besidesSystem false")
          }
          bundle += Data("\n".utf8) + system
        }
        // Otherwise the library's own file and directory would be trusted too.
        try set(CURLOPT_CAINFO, nil as String?, name: "CAINFO")
        try set(CURLOPT_CAPATH, nil as String?, name: "CAPATH")
        try set(CURLOPT_CAINFO_BLOB, bundle, name: "CAINFO_BLOB")
        // A proxy that is reached over TLS is trusted by the same rules.
        if proxy == .none { return }
        try set(CURLOPT_PROXY_CAINFO, nil as String?, name: "PROXY_CAINFO")
        try set(CURLOPT_PROXY_CAPATH, nil as String?, name: "PROXY_CAPATH")
        try set(CURLOPT_PROXY_CAINFO_BLOB, bundle, name: "PROXY_CAINFO_BLOB")
      #if canImport(ObjectiveC)
        case .closure:
          throw NetworkError(.unsupportedTrust, "libcurl asks no closure whom to trust; use anchors and pins")
      #endif
      }
    }

    /// Sets the security options for one host: its pins, and the identity that it may see.
    func setSecurity(of host: String) throws {
      guard settings.securedHost != host else { return }
      // If an option is refused, the next request must not assume that they are set.
      settings.securedHost = nil
      do {
        try setPins(settings.trust.pins(for: host))
        try setIdentity(settings.identity.flatMap { $0.isFor(host) ? $0 : nil })
      } catch let error as RefusedOption {
        throw error.networkError(.unsupportedTrust)
      }
      settings.securedHost = host
    }

    private func setPins(_ pins: Set<PublicKeyPin>?) throws {
      guard settings.trust.hasPins else { return }
      try set(CURLOPT_PINNEDPUBLICKEY, pinText(pins), name: "PINNEDPUBLICKEY")
    }

    private func pinText(_ pins: Set<PublicKeyPin>?) -> String? {
      pins?.map { "sha256//\($0.hash.base64EncodedString())" }.sorted().joined(separator: ";")
    }

    private func setIdentity(_ identity: ClientIdentity?) throws {
      guard settings.identity != nil else { return }
      // A handle keeps the options of the last host, so each option is set or cleared every time.
      var (type, certificate, key, passphrase): (String?, Data?, Data?, String?) = (nil, nil, nil, nil)
      switch identity?.content {
      case .pkcs12(let data, let phrase): (type, certificate, passphrase) = ("P12", data, phrase)
      case .certificates(let chain, let privateKey):
        (type, certificate, key) = ("PEM", Data(chain.map(\.pem).joined().utf8), Data(privateKey.pem.utf8))
      case nil: break
      }
      try set(CURLOPT_SSLCERTTYPE, type, name: "SSLCERTTYPE")
      try set(CURLOPT_SSLCERT_BLOB, certificate, name: "SSLCERT_BLOB")
      try set(CURLOPT_SSLKEY_BLOB, key, name: "SSLKEY_BLOB")
      try set(CURLOPT_KEYPASSWD, passphrase, name: "KEYPASSWD")
    }
  }
#endif
