import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct TrustPolicyTests {
  // The pins are those that openssl prints for the certificates.
  private static let keys = [
    (ellipticCurve, "sha256/GIQx4IPpIjzBVKdvsxutK0e4oy/99OMUr6LkuYjZlKM="),
    (edwardsCurve, "sha256/iwi0g9NNfQeoa9wcoolA/JN6hEkODC8ZVUmbK1pvO/I="),
    (rsa, "sha256/ACgYb1L2mUkVt3QHwfPq35fGVIHrLZqU6AraP4pjZK8="),
  ]

  private func certificate(_ index: Int) throws -> X509Certificate {
    try X509Certificate.certificates(pem: Self.keys[index].0)[0]
  }

  private func error(_ work: () throws -> Void) throws -> NetworkError {
    let error = try #require(throws: NetworkError.self) { try work() }
    #expect(error.code == .invalidTrust)
    return error
  }

  @Test(arguments: keys.indices)
  func `the pin of a certificate is that of its key`(index: Int) throws {
    let (pem, pin) = Self.keys[index]
    let certificate = try certificate(index)
    #expect(certificate.publicKeyPin.description == pin)
    #expect(try certificate.publicKeyPin == PublicKeyPin(String(pin.dropFirst(7))))
    #expect(try X509Certificate(der: certificate.der) == certificate)
    #expect(try X509Certificate.certificates(pem: "subject: x\n" + pem + "\n" + Self.rsa).count == 2)
  }

  @Test(arguments: ["b\u{fc}cher.example", "xn--bcher-kva.example", "B\u{dc}CHER.Example", "b\u{fc}cher.example."])
  func `pins hold for every spelling of their host`(host: String) throws {
    let pin = try certificate(0).publicKeyPin
    let trust = try TrustPolicy.system.pinning([host: [pin], "*.\(host)": [pin]])
    for spelling in [
      "b\u{fc}cher.example", "xn--bcher-kva.example", "XN--BCHER-KVA.EXAMPLE", "b%C3%BCcher.example",
      "xn--bcher-kva.example.", "xn--bcher-kva.example%2E",
    ] {
      for name in [spelling, "api.\(spelling)"] {
        let origin = try #require(Origin("https://\(name)/"))
        #expect(trust.pins(for: origin.host) == [pin], "\(name)")
      }
    }
    #expect(trust.pins(for: "a.api.xn--bcher-kva.example") == nil)
  }

  @Test func `a host that is pinned in two spellings is refused`() throws {
    let pin = try certificate(0).publicKeyPin
    let error = #expect(throws: NetworkError.self) {
      try TrustPolicy.system.pinning(["api.example.com": [pin], "API.example.com.": [pin]])
    }
    #expect(error?.code == .invalidTrust)
    #expect(error?.message.contains("api.example.com twice") == true)
    #expect(
      try TrustPolicy.system.pinning(["example.com": [pin], "*.example.com": [pin]]).pins(for: "example.com") == [pin])
  }

  @Test func `a cut-off or changed certificate is an error or another certificate, and does not end the process`()
    throws
  {
    let der = Array(try certificate(0).der)
    for length in 0..<der.count {
      #expect(throws: NetworkError.self) { try X509Certificate(der: Data(der[..<length])) }
    }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2_000 {
      var changed = der
      changed[Int.random(in: 0..<der.count, using: &random)] = .random(in: 0...255, using: &random)
      changed[Int.random(in: 0..<40, using: &random)] = .random(in: 0...255, using: &random)
      _ = try? X509Certificate(der: Data(changed))
    }
  }

  @Test func `text that holds no certificate is an error that says so`() throws {
    #expect(try error { _ = try X509Certificate.certificates(pem: "x") }.message.contains("BEGIN CERTIFICATE"))
    let cut = Self.ellipticCurve.replacing("-----END CERTIFICATE-----", with: "")
    #expect(try error { _ = try X509Certificate.certificates(pem: cut) }.message.contains("certificate 1"))
    let pem = Data(Self.ellipticCurve.utf8)
    #expect(try error { _ = try X509Certificate(der: pem) }.message.contains("is PEM"))
  }

  @Test(arguments: ["", "sha256/", "x", "sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "iwi0g9NNfQeoa9wcoolA"])
  func `text that is not a hash is not accepted as a pin`(text: String) throws {
    #expect(try error { _ = try PublicKeyPin(text) }.message.contains("\"\(text)\""))
  }

  @Test func `a chain with a pinned key is accepted, and one without is refused with its keys`() throws {
    let policy = try TrustPolicy.system.pinning([
      "api.example.com": [certificate(0).publicKeyPin], "*.Example.org": [certificate(1).publicKeyPin],
    ])
    let chain = [try certificate(0).der, try certificate(2).der]
    #expect(policy.pinObjection(to: chain, of: "API.example.com") == nil)
    #expect(policy.pinObjection(to: Array(chain.reversed()), of: "api.example.com") == nil)
    #expect(policy.pinObjection(to: chain, of: "other.example.com") == nil)
    for host in ["a.example.org", "B.EXAMPLE.ORG"] {
      let objection = try #require(policy.pinObjection(to: chain, of: host))
      #expect(objection.contains(host))
      #expect(objection.contains(Self.keys[2].1))
    }
    #expect(policy.pinObjection(to: chain, of: "example.org") == nil)
    #expect(policy.pinObjection(to: chain, of: "a.b.example.org") == nil)
    #expect(policy.pinObjection(to: [Data("x".utf8)], of: "api.example.com") != nil)
    #expect(policy.pinObjection(to: [], of: "api.example.com") != nil)
    #expect(!policy.isSystem)
    #expect(TrustPolicy.system.isSystem)
  }

  @Test(arguments: ["", "*.", "https://api.example.com", "api.example.com:443", "a.*.example.com"])
  func `a pin of an invalid host is refused`(host: String) throws {
    let pin = try certificate(0).publicKeyPin
    #expect(try error { _ = try TrustPolicy.system.pinning([host: [pin]]) }.message.contains("\"\(host)\""))
  }

  @Test func `a host with an empty list of pins, and an empty list of anchors, are refused`() throws {
    #expect(try error { _ = try TrustPolicy.system.pinning(["a.example": []]) }.message.contains("a.example"))
    _ = try error { _ = try TrustPolicy.anchors([]) }
    #expect(try !TrustPolicy.anchors([certificate(0)]).isSystem)
  }

  @Test func `an identity is checked for its form, and shows neither key nor passphrase`() throws {
    let data = try #require(Data(base64Encoded: Self.identity))
    let identity = try ClientIdentity(pkcs12: data, passphrase: "canary", hosts: ["API.example.com"])
    #expect(identity.hosts == ["api.example.com"])
    #expect("\(identity)" == "client identity for api.example.com")
    var dumped = ""
    dump(identity, to: &dumped)
    #expect(!dumped.contains("canary"))
    #expect(!"\(identity)".contains("canary"))
    _ = try error { _ = try ClientIdentity(pkcs12: data, passphrase: "", hosts: []) }
    for wrong in [Data(), Data("x".utf8), try certificate(0).der] {
      _ = try error { _ = try ClientIdentity(pkcs12: wrong, passphrase: "", hosts: ["a"]) }
    }
  }

  #if canImport(FoundationNetworking)
    @Test func `an option that URLSession on Linux cannot obey fails every send, and no request is sent`() async throws
    {
      let server = try LoopbackServer { _ in .status(200) }
      let data = try #require(Data(base64Encoded: Self.identity))
      let configurations = [
        try URLSessionTransport.Configuration(trust: .anchors([certificate(0)])),
        try URLSessionTransport.Configuration(trust: .system.pinning(["a.example": [certificate(0).publicKeyPin]])),
        try URLSessionTransport.Configuration(
          identity: ClientIdentity(pkcs12: data, passphrase: "", hosts: ["127.0.0.1"])),
      ]
      for configuration in configurations {
        let error = try await URLSessionTransport(configuration: configuration).failure(of: server.request())
        #expect(error.code == .unsupportedTrust)
        #expect(!error.mayHaveArrived)
        #expect(error.message.contains("another transport"))
        #expect(error.request != nil)
      }
      #expect(server.connectionCount == 0)
    }
  #endif
}

extension TrustPolicyTests {
  fileprivate static let ellipticCurve = """
    -----BEGIN CERTIFICATE-----
    MIIBijCCATGgAwIBAgIUZSgiNafbv3/kmMT8mdQZdLy1utgwCgYIKoZIzj0EAwIw
    GjEYMBYGA1UEAwwPYXBpLmV4YW1wbGUuY29tMCAXDTI2MTEyMjAyMjYxNloYDzIx
    MjYxMDI5MDIyNjE2WjAaMRgwFgYDVQQDDA9hcGkuZXhhbXBsZS5jb20wWTATBgcq
    hkjOPQIBBggqhkjOPQMBBwNCAAT7G+9FBOpVvNEaHCIbwm1G/YbFiAIS53lw3wgU
    zzQlVLiUCnaaBvgoVk/Dt22xIL56calLP/OmHar5jTmaD1hdo1MwUTAdBgNVHQ4E
    FgQUMNekh64pelmcSbeB+TMm9Y0qx/YwHwYDVR0jBBgwFoAUMNekh64pelmcSbeB
    +TMm9Y0qx/YwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBZpXdK
    5QSoQkxDKYkI51STxcsLO9mDwfxtlBomJYZgqwIgQhN+uqgh+Qgzkj2MBhzZS0x/
    MZUEkOqEO6igoxSJbHY=
    -----END CERTIFICATE-----
    """

  fileprivate static let edwardsCurve = """
    -----BEGIN CERTIFICATE-----
    MIIBTzCCAQGgAwIBAgIUbueeX8V+iELRpyK+MwAHlujqxAMwBQYDK2VwMBwxGjAY
    BgNVBAMMEW90aGVyLmV4YW1wbGUuY29tMCAXDTI2MTEyMjAyMjYxNloYDzIxMjYx
    MDI5MDIyNjE2WjAcMRowGAYDVQQDDBFvdGhlci5leGFtcGxlLmNvbTAqMAUGAytl
    cAMhAEDGa9vknFDjUL2l6y3qfO3A19PK22TMuqtI66l9yPS8o1MwUTAdBgNVHQ4E
    FgQULSwOeDYMGDx/VfhjJU5N5lQHF/wwHwYDVR0jBBgwFoAULSwOeDYMGDx/Vfhj
    JU5N5lQHF/wwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDzGaVOxyDSDoRuxebP
    CgTh8TxVK0cccLSU4f7EVu5jQt9jBGDnbf74cuRf/r2FD5LorERUAy6qZY6YWVVI
    6boM
    -----END CERTIFICATE-----
    """

  fileprivate static let rsa = """
    -----BEGIN CERTIFICATE-----
    MIIB9jCCAV+gAwIBAgIUB7xRXeOrJ5Q17Pi+Y8zn+n0tN/AwDQYJKoZIhvcNAQEL
    BQAwDDEKMAgGA1UEAwwBcjAgFw0yNjExMjIwMjI2MTdaGA8yMTI2MTAyOTAyMjYx
    N1owDDEKMAgGA1UEAwwBcjCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAmQvk
    5BCW7kVsd64Lrv4yGPYieRTdvHXaT1VGr1eQy8uolMZooSXgXCmsx/QWqPpjdXhn
    RXe1nQxfafq34SxB8t45+0DAI0rxvLNsz6R9R6m43L93+aA+IdgUK8CvwKTg1Nhe
    uV+x12BpYDQHMOy7opNNjTTvOV42Z41bggRR4FsCAwEAAaNTMFEwHQYDVR0OBBYE
    FOwgmpGRaRE7da0HcKhN7H6ng1/0MB8GA1UdIwQYMBaAFOwgmpGRaRE7da0HcKhN
    7H6ng1/0MA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAYLTunFo6
    YvwtQdEHEhMs1C1+GVjudSTRxeCz4KyE4rxOfC/EOJ2sK1hiKYRLV1rGKZhs9pix
    cH++tYM+lj5tVUnTvjMHYmYN2lHkY13AFz/KX1CY5DKfHfICm1YT/b3oWDetzGgS
    P3MXj/ppHkruQt8cBX8oRZTe99tlK59Kj6g=
    -----END CERTIFICATE-----
    """

  /// A PKCS #12 with the passphrase "x".
  fileprivate static let identity = """
    MIIDhgIBAzCCAzwGCSqGSIb3DQEHAaCCAy0EggMpMIIDJTCCAjIGCSqGSIb3DQEHBqCCAiMwggIfAgEAMIICGAYJKoZIhvcNAQcB\
    MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj+DPrBaoK3RAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEKDG\
    wBqs9EqOuzAgZyZ9qwqAggGwkif1pCgtMO3sumRtdeIfdLucvX5Q6pkpBvDND41DlqTDrU420Vc5+AqNGv7seNCpYqdqxkauQE50\
    5p6S8RsxKEsGShgXQSlTcFqULaDtmkykUG6toisJQvKVkWm/z5Uzg+t78vtkj1BPAWt7+LxVQsCdJYoOItfb6SRZrB6s7t3aFEro\
    /vjoxgCpR6Zv0CrYHBOYGNF8vgaEnJ1ZvFwPLA9jHBULvleSGzv4s4U/925xBEKpvFScafpdvyWKMoU1HO072LyVt7Fy3GmVdqj+\
    YP4LZCBDz5sLr6Qp/L2ZLMOuzrxa418cB+ZSk8rXhC8+PCxWpdoOejwQq324XVets0gO/CyeyJdsy3vqjw8pw8M6lX/4G2k0GnRg\
    rIJM/3WPrcEbEj8+AwNpfZSvMzTDHzZEXVpP5r8ykBQxoLXZZOVapW4SD2kyPE+Yp0AxoCrA/hDfqVmqkc/5Quu3DABhPtnqEEK5\
    3O3TCuqG17oPoI3hheLTIc/dWXnVZpSwYp/BOdxIuBcrlXkO+uMVtjJLHg+PPA5uNF/s2iR4WB0FNmoUi1MtLXOQg+YjJjSqx6bx\
    MIHsBgkqhkiG9w0BBwGggd4EgdswgdgwgdUGCyqGSIb3DQEMCgECoIGeMIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAc\
    BAhZDtUgyxhaZwICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEB+g1TGTbpc6hM3B23mTv78EQG6/EwyamU1VVz6lbq7B\
    2YVBiGqh2dzTkzWiqfov1TNF1iyUEbZvT2i0ozREmSgGVyJjvntPVEEzoO0FooQdFaAxJTAjBgkqhkiG9w0BCRUxFgQUWUO8RhFH\
    MAsK/8n23EzBaOEGSDYwQTAxMA0GCWCGSAFlAwQCAQUABCCMVwVw5QX3a/0i9LeDXBM2y2xT7BZlKvJvNGge0Nqw6QQIdYZC0cJr\
    CKsCAggA
    """
}
