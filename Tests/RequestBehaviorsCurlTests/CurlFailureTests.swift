#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviors
  import RequestBehaviorsCurl
  import Testing

  /// The meaning of libcurl's texts, which differ from version to version.
  @Suite(.limited) struct CurlFailureTests {
    @Test(arguments: [
      ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to h:443 ", NetworkError.Code.cannotConnect),
      ("OpenSSL SSL_connect: SSL_ERROR_ZERO_RETURN in connection to h:443 ", .cannotConnect),
      ("TLS connect error: error:00000000:lib(0)::reason(0)", .cannotConnect),
      ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", .cannotConnect),
      ("OpenSSL SSL_connect: Connection reset by peer in connection to h:443 ", .cannotConnect),
      ("TLS connect error: error:0A00042E:SSL routines::tlsv1 alert protocol version", .tlsFailed),
    ])
    func `a handshake that the server breaks off has another error than one that it refuses`(
      text: String, wanted: NetworkError.Code
    ) {
      let failure = CurlFailure(result: 35, text: text, hasHead: false, isOverReusedConnection: false)
      #expect(failure.code == wanted)
    }

    @Test(arguments: [
      ("tlsv13 alert certificate required", NetworkError.Code.tlsFailed), ("tlsv1 alert unknown ca", .tlsFailed),
      ("sslv3 alert bad certificate", .tlsFailed), ("tlsv1 alert access denied", .tlsFailed),
      ("tlsv1 alert internal error", .connectionLost), ("sslv3 alert bad record mac", .connectionLost),
    ])
    func `an alert in place of the response is a refused handshake only if it is about the client's part`(
      alert: String, wanted: NetworkError.Code
    ) {
      let text = "OpenSSL SSL_read: error:0A000000:SSL routines::\(alert), errno 0"
      let failure = CurlFailure(result: 56, text: text, hasHead: false, isOverReusedConnection: false)
      #expect(failure.code == wanted)
    }
  }
#endif
