import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct ClientIdentityTests {
  private static let pairs = [
    ellipticCertificate + "\n" + ellipticKey, ellipticKeySEC1 + "\n" + ellipticCertificate,
    rsaCertificate + "\n" + rsaKey, rsaKeyPKCS1 + "\nsubject: r\n" + rsaCertificate,
    edwardsCertificate + "\n" + edwardsKey,
  ]

  private func error(pem: String, hosts: Set<String> = ["a"]) throws -> NetworkError {
    let error = try #require(throws: NetworkError.self) { try ClientIdentity(pem: pem, hosts: hosts) }
    #expect(error.code == .invalidTrust)
    return error
  }

  private func pair(_ pem: String) throws -> (certificates: [X509Certificate], key: PrivateKey) {
    let identity = try ClientIdentity(pem: pem, hosts: ["a"])
    guard case .certificates(let certificates, let key) = identity.content else { throw CancellationError() }
    return (certificates, key)
  }

  private func der(_ pem: String) throws -> Data {
    let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
    return try #require(Data(base64Encoded: lines.joined()))
  }

  @Test(arguments: pairs)
  func `an identity is read from PEM in any order, and writes the same`(pem: String) throws {
    let (certificates, key) = try pair(pem)
    #expect(certificates.count == 1)
    #expect(pem.contains(key.pem.trimmingCharacters(in: .newlines)))
    #expect(pem.contains(certificates[0].pem.trimmingCharacters(in: .newlines)))
  }

  @Test func `a host gets its identity however it is spelled, and another host gets none`() throws {
    let pem = Self.ellipticCertificate + "\n" + Self.ellipticKey
    let identity = try ClientIdentity(pem: pem, hosts: ["b\u{fc}cher.example", "2001:db8:0::1"])
    let hosts = ["xn--bcher-kva.example", "B%C3%BCcher.example", "2001:DB8::1", "bucher.example", "2001:db8::2"]
    #expect(hosts.map(identity.isFor) == [true, true, true, false, false])
  }

  @Test func `an identity is read from DER`() throws {
    let certificate = try X509Certificate(der: der(Self.ellipticCertificate))
    for key in [Self.ellipticKey, Self.ellipticKeySEC1] {
      let identity = try ClientIdentity(
        certificates: [certificate], privateKey: der(key), hosts: ["API.example.com"])
      #expect(identity.hosts == ["api.example.com"])
    }
  }

  @Test(arguments: [
    (ellipticKey, rsaCertificate), (rsaKey, ellipticCertificate), (rsaKeyPKCS1, edwardsCertificate),
  ])
  func `a key of another certificate is an error that names the certificate's key`(
    key: String, certificate: String
  ) throws {
    let pin = try X509Certificate.certificates(pem: certificate)[0].publicKeyPin
    #expect(try error(pem: key + "\n" + certificate).message.contains("\(pin)"))
  }

  @Test func `a key with a passphrase is an error that names the remedy`() throws {
    let message = try error(pem: Self.ellipticCertificate + "\n" + Self.encryptedKey).message
    #expect(message.contains("passphrase"))
    #expect(message.contains("openssl"))
    let bytes = try der(Self.encryptedKey)
    let certificates = try X509Certificate.certificates(pem: Self.ellipticCertificate)
    #expect(throws: NetworkError.self) {
      try ClientIdentity(certificates: certificates, privateKey: bytes, hosts: ["a"])
    }
  }

  @Test func `text that lacks the certificate or the key, or has two keys, is an error that says so`() throws {
    #expect(try error(pem: Self.ellipticKey).message.contains("BEGIN CERTIFICATE"))
    #expect(try error(pem: Self.ellipticCertificate).message.contains("BEGIN PRIVATE KEY"))
    let two = Self.ellipticCertificate + "\n" + Self.ellipticKey + "\n" + Self.rsaKeyPKCS1
    #expect(try error(pem: two).message.contains("2 private keys"))
    let cut = Self.ellipticCertificate + "\n" + Self.ellipticKey.dropLast(40)
    #expect(try error(pem: cut).message.contains("not whole"))
    #expect(try error(pem: Self.pairs[0], hosts: []).message.contains("no host"))
    #expect(throws: NetworkError.self) {
      try ClientIdentity(certificates: [], privateKey: der(Self.ellipticKey), hosts: ["a"])
    }
  }

  @Test(arguments: [ellipticKey, ellipticKeySEC1, rsaKey, rsaKeyPKCS1])
  func `a key that is cut off is an error, and a changed key does not end the process`(pem: String) throws {
    let certificates = try X509Certificate.certificates(pem: Self.ellipticCertificate)
    let whole = Array(try der(pem))
    for length in 0..<whole.count {
      #expect(throws: NetworkError.self) {
        try ClientIdentity(certificates: certificates, privateKey: Data(whole[..<length]), hosts: ["a"])
      }
    }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<1_000 {
      var changed = whole
      changed[Int.random(in: 0..<whole.count, using: &random)] = .random(in: 0...255, using: &random)
      changed[Int.random(in: 0..<40, using: &random)] = .random(in: 0...255, using: &random)
      _ = try? ClientIdentity(certificates: certificates, privateKey: Data(changed), hosts: ["a"])
    }
  }

  @Test func `descriptions of an identity do not show its key`() throws {
    let identity = try ClientIdentity(pem: Self.pairs[0], hosts: ["api.example.com"])
    var dumped = ""
    dump(identity, to: &dumped)
    #expect("\(identity)" == "client identity for api.example.com")
    #expect(String(reflecting: identity) == "\(identity)")
    #expect(!dumped.contains("bytes"))
  }
}

// Keys and certificates of no server.
extension ClientIdentityTests {
  fileprivate static let ellipticCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBjDCCATGgAwIBAgIUTaRUUpxGeut8P9Bv+ydkhUjkd7kwCgYIKoZIzj0EAwIw
    GjEYMBYGA1UEAwwPYXBpLmV4YW1wbGUuY29tMCAXDTI2MTEyMjA1MDExOVoYDzIx
    MjYxMDI5MDUwMTE5WjAaMRgwFgYDVQQDDA9hcGkuZXhhbXBsZS5jb20wWTATBgcq
    hkjOPQIBBggqhkjOPQMBBwNCAARq7awTne4F9qFRrwdKN3A4F7ZzYOn1W6VcbhuC
    wxu3Muc/zcASaFXl+NfjK9FjvOW8kj5xr4c9it9fJclQwHuWo1MwUTAdBgNVHQ4E
    FgQU+zrvw3rBcMQGKrHbnl/t8M32hWEwHwYDVR0jBBgwFoAU+zrvw3rBcMQGKrHb
    nl/t8M32hWEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA0Ag6
    Us5Lze/+nJux10qW0fbelT9c5M9PstD+4PsanZUCIQCiPeWD2RlVYmFKJpMpFJVH
    6UJbIK1ZqWUhpBZLwesGzg==
    -----END CERTIFICATE-----
    """

  fileprivate static let ellipticKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtnD2bNEG8IeRdK1U
    6sbtlX3/RqR+U16BZQDPHN9Sj7ChRANCAARq7awTne4F9qFRrwdKN3A4F7ZzYOn1
    W6VcbhuCwxu3Muc/zcASaFXl+NfjK9FjvOW8kj5xr4c9it9fJclQwHuW
    -----END PRIVATE KEY-----
    """

  fileprivate static let ellipticKeySEC1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEILZw9mzRBvCHkXStVOrG7ZV9/0akflNegWUAzxzfUo+woAoGCCqGSM49
    AwEHoUQDQgAEau2sE53uBfahUa8HSjdwOBe2c2Dp9VulXG4bgsMbtzLnP83AEmhV
    5fjX4yvRY7zlvJI+ca+HPYrfXyXJUMB7lg==
    -----END EC PRIVATE KEY-----
    """

  fileprivate static let rsaCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIB9jCCAV+gAwIBAgIUGYyppJ9wwiTEGESlmxmnJh/AeJcwDQYJKoZIhvcNAQEL
    BQAwDDEKMAgGA1UEAwwBcjAgFw0yNjExMjIwNTAxMTlaGA8yMTI2MTAyOTA1MDEx
    OVowDDEKMAgGA1UEAwwBcjCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkCgYEAyGKS
    FaGrQz348Xwn+9gxZBOkNSGwrLDAAlS2R+EAnEYZsHtBwDEMwNAVfu27MsFjGPNq
    C+TFrhde04BeU9AuDEcqJSBZsXPa0VND9q2s7rZyD4wz7ZRSA0umw56v9BVSwY3E
    A1rKEwUxVkN6+4EfzVXJIsZXFf4M6E/hWZ2SUWECAwEAAaNTMFEwHQYDVR0OBBYE
    FLLqPRPszzU313aNrDJVpwFxk+uAMB8GA1UdIwQYMBaAFLLqPRPszzU313aNrDJV
    pwFxk+uAMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZIhvcNAQELBQADgYEAZa9LA4zE
    twGmq9Xw2Pdm86gNMh9Ya8hxA9f0WO92xxFtmFUA2H+P6yJygWx9vlDkX3rxgK1t
    u76uEhaleUKPi2pqv4dsPvemlMvcurlyW/2GF6I0YCqmrXqSLE+HbpoelYfzZx9O
    VEWb6I206t4m6n5F35GEZyga7MngSQS+jV8=
    -----END CERTIFICATE-----
    """

  fileprivate static let rsaKey = """
    -----BEGIN PRIVATE KEY-----
    MIICeQIBADANBgkqhkiG9w0BAQEFAASCAmMwggJfAgEAAoGBAMhikhWhq0M9+PF8
    J/vYMWQTpDUhsKywwAJUtkfhAJxGGbB7QcAxDMDQFX7tuzLBYxjzagvkxa4XXtOA
    XlPQLgxHKiUgWbFz2tFTQ/atrO62cg+MM+2UUgNLpsOer/QVUsGNxANayhMFMVZD
    evuBH81VySLGVxX+DOhP4VmdklFhAgMBAAECgYEAjrv3xsTD0z/fhVOkv3V9qQV8
    oAQBbuDvxDlHJegVoTslrVn+ucG2jdkqlqEMCNlLl0g7r4EjdiBbgVgc2KKfSQj0
    PmAtzZBElM1yGnV3+i5J0nmUZv2WNCY373yjf9ZlZUbV5UT938K61i4jJUHoa8Th
    DUcTaEiuScwpz/6+44ECQQDj0VfbQ0Z5fhCxBnL6ggGf0Nc6tXjIl7fp12L8bvXe
    oGgLk8rlESquw4vdEMC7USim9LA9R0yrCGobUMg1B4DZAkEA4Sx5O2m4TP48osXS
    tuT0DS+7UkHEpEJJNUe9cL1dlFgbsU+Ieeqs6R7IzewJf9suaOT/Ot5H+vFZ/LJe
    tkb/yQJBAKyviYYVl70N9v8I4WzL0QlgV1UUK6r5fhoN/uVUAqEvO87Sx3AdNBpm
    9YSrZzxVx5fOUC0S96WJakysTiYMOvkCQQDFRXlQm+ZjTblBwZ5BrYRCqTarcgMd
    BRWuIBPP2ZdKh4Z7aPpgFUE3W0kBX3FTGmsmarlQkbzuFNSJlptzhfBBAkEAhIzh
    cdQ4sl7CfcWR4oLjMvgGXIe1johBw2Uwryo/LJU4EU1dvQjeccaUAUstbqenDv9t
    UVdxh2/xMRRh0f1kOQ==
    -----END PRIVATE KEY-----
    """

  fileprivate static let rsaKeyPKCS1 = """
    -----BEGIN RSA PRIVATE KEY-----
    MIICXwIBAAKBgQDIYpIVoatDPfjxfCf72DFkE6Q1IbCssMACVLZH4QCcRhmwe0HA
    MQzA0BV+7bsywWMY82oL5MWuF17TgF5T0C4MRyolIFmxc9rRU0P2razutnIPjDPt
    lFIDS6bDnq/0FVLBjcQDWsoTBTFWQ3r7gR/NVckixlcV/gzoT+FZnZJRYQIDAQAB
    AoGBAI6798bEw9M/34VTpL91fakFfKAEAW7g78Q5RyXoFaE7Ja1Z/rnBto3ZKpah
    DAjZS5dIO6+BI3YgW4FYHNiin0kI9D5gLc2QRJTNchp1d/ouSdJ5lGb9ljQmN+98
    o3/WZWVG1eVE/d/CutYuIyVB6GvE4Q1HE2hIrknMKc/+vuOBAkEA49FX20NGeX4Q
    sQZy+oIBn9DXOrV4yJe36ddi/G713qBoC5PK5REqrsOL3RDAu1EopvSwPUdMqwhq
    G1DINQeA2QJBAOEseTtpuEz+PKLF0rbk9A0vu1JBxKRCSTVHvXC9XZRYG7FPiHnq
    rOkeyM3sCX/bLmjk/zreR/rxWfyyXrZG/8kCQQCsr4mGFZe9Dfb/COFsy9EJYFdV
    FCuq+X4aDf7lVAKhLzvO0sdwHTQaZvWEq2c8VceXzlAtEveliWpMrE4mDDr5AkEA
    xUV5UJvmY025QcGeQa2EQqk2q3IDHQUVriATz9mXSoeGe2j6YBVBN1tJAV9xUxpr
    Jmq5UJG87hTUiZabc4XwQQJBAISM4XHUOLJewn3FkeKC4zL4BlyHtY6IQcNlMK8q
    PyyVOBFNXb0I3nHGlAFLLW6npw7/bVFXcYdv8TEUYdH9ZDk=
    -----END RSA PRIVATE KEY-----
    """

  fileprivate static let edwardsCertificate = """
    -----BEGIN CERTIFICATE-----
    MIIBNjCB6aADAgECAhRuig4DDkgpfjIHGAhOAvu9e4FXETAFBgMrZXAwEDEOMAwG
    A1UEAwwFb3RoZXIwIBcNMjYxMTIyMDUwMTE5WhgPMjEyNjEwMjkwNTAxMTlaMBAx
    DjAMBgNVBAMMBW90aGVyMCowBQYDK2VwAyEA6O/F0sFxF9Bq4o8zN8J/3x8T1Ax1
    Z5u43kxIbod/zCCjUzBRMB0GA1UdDgQWBBQxs3AA8KARNJUa4nBYSoV6Kn2xCTAf
    BgNVHSMEGDAWgBQxs3AA8KARNJUa4nBYSoV6Kn2xCTAPBgNVHRMBAf8EBTADAQH/
    MAUGAytlcANBAOukx/fgbN8fjA81v8MkgB1RkbX98wIlQ4f9S2TsWp37yKsxj4xs
    bvgX1SkZuVhK4JMDnNVi6yE4blHFiV5A8ws=
    -----END CERTIFICATE-----
    """

  fileprivate static let edwardsKey = """
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIFophATHCBiiHrTuZYHUFGZRm2pTmcyIG1a0j3vd0B9R
    -----END PRIVATE KEY-----
    """

  fileprivate static let encryptedKey = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjX5rgzOMfDcwICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEH1qh+OApu+av59MLYRBR04EgZDo
    JdOYUVxaFftseTUSA1yD7xxz1PCixA15bq9sSb9WpTFk9Xnb7YXOo3m2pKW5kRIF
    Qs3Zh9SeD72h2rkSExooD4uOa3cIzw/yX27V4cc/qa6fllpofn+PubQlO1OZYsvB
    ONc7w2pkhKJ+UZIO3lTDxKg2UhJAqFbjwkd4Iqe0DLePd8U9HMh0AW5w0XqnoPA=
    -----END ENCRYPTED PRIVATE KEY-----
    """
}
