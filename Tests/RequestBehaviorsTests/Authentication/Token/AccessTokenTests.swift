import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct AccessTokenTests {
  private func decode(_ json: String, with decoder: JSONDecoder = JSONDecoder()) throws -> AccessToken {
    try decoder.decode(AccessToken.self, from: Data(json.utf8))
  }

  @Test func `a token whose expiry is no number has a description`() {
    let token = AccessToken("canary", expiresAt: Date(timeIntervalSince1970: .nan))
    #expect("\(token)" == "Bearer token \(Redactor.placeholder), expires no date")
  }

  // RFC 6749 §5.1, the example.
  @Test(arguments: [JSONDecoder.KeyDecodingStrategy.useDefaultKeys, .convertFromSnakeCase])
  func `an OAuth 2 answer is a token, whatever the key strategy`(keys: JSONDecoder.KeyDecodingStrategy) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = keys
    let token = try decode(
      #"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"example","expires_in":3600,"refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value","scope":"a b"}"#,
      with: decoder)
    #expect(
      token
        == AccessToken(
          "2YotnFZFEjr1zCsicMWpAA", type: "example", lifetime: .seconds(3_600),
          refreshToken: "tGzv3JOkF0XG5Qx2TlKWIA", scopes: ["a", "b"]))
  }

  @Test(arguments: ["", #","token_type":"""#, #","token_type":null"#])
  func `a token whose type is missing or empty is a bearer token`(member: String) throws {
    #expect(try decode(#"{"access_token":"t"\#(member)}"#) == AccessToken("t"))
  }

  @Test(arguments: [
    (#""expires_in":"3600""#, 3_600), (#""expires_in":1.5"#, 1.5), (#""expires_in":-1"#, 0),
    (#""expires_in":1e300"#, 3_162_240_000), (#""expires_in":null"#, nil), (#""scope":null"#, nil),
  ])
  func `a lifetime is a number or a text of digits`(member: String, seconds: Double?) throws {
    let token = try decode(#"{"access_token":"t",\#(member)}"#)
    #expect(token.lifetime == seconds.map { .seconds($0) })
    #expect(token.expiresAt == nil)
  }

  @Test(arguments: [
    (#""expires_in":"2014-09-19T12:22:21.570Z""#, 1_411_129_341.57),
    (#""expires_at":"2014-09-19T12:22:21Z""#, 1_411_129_341), (#""expires_at":1411129341"#, 1_411_129_341),
    (#""expires_at":1411129341570"#, 1_411_129_341.57), (#""expiresAt":"2014-09-19T14:22:21+02:00""#, 1_411_129_341),
    (#""expires_at":"2014-09-19 07:52:21.5-0430""#, 1_411_129_341.5),
    (#""expires_at":"2000-02-29T00:00:00Z""#, 951_782_400),
    (#""expires_at":"1969-12-31T23:59:59.123456Z""#, -0.876544),
    (#""expires_at":"2400-03-01T00:00:00Z""#, 13_574_649_600),
    (#""expires_at":"2016-12-31T23:59:60Z""#, 1_483_228_800),
  ])
  func `an expiry may be a date`(member: String, seconds: Double) throws {
    let token = try decode(#"{"access_token":"t",\#(member)}"#)
    let date = try #require(token.expiresAt)
    #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_001)
    #expect(token.lifetime == nil)
  }

  @Test(arguments: [
    "", "soon", "2014-09-19", "2014-13-19T12:22:21Z", "2014-09-19T25:22:21Z", "2014-09-19T12:22:21",
    "2014-09-19T12:22:21.Z",
    "2014-09-19T12:22:21Z ", "2014-09-19T12:22:21+2:00", "２014-09-19T12:22:21Z",
    // Days that the month does not have.
    "2014-02-29T12:22:21Z", "2100-02-29T12:22:21Z", "2014-09-31T12:22:21Z", "2014-09-00T12:22:21Z",
  ])
  func `an expiry that cannot be read is an error`(text: String) {
    #expect(throws: DecodingError.self) { try decode(#"{"access_token":"t","expires_at":"\#(text)"}"#) }
  }

  @Test func `the token may stand under another name`() throws {
    #expect(try decode(#"{"token":"t"}"#).value == "t")
    #expect(try decode(#"{"xapp_token":"t","expires_in":"2014-09-19T12:22:21.570Z"}"#).value == "t")
    #expect(try decode(#"{"accessToken":"t","token":"u"}"#).value == "t")
    #expect(try decode(#"{"my_token":"t","refresh_token":"r","id_token":"i"}"#).value == "t")
  }

  @Test(arguments: [
    "{}", "[]", #"{"access_token":""}"#, #"{"access_token":17}"#, #"{"a_token":"t","b_token":"u"}"#,
    #"{"refresh_token":"r"}"#, #"{"error":"invalid_grant"}"#,
  ])
  func `a response without a token is an error`(json: String) {
    #expect(throws: DecodingError.self) { try decode(json) }
  }

  @Test(arguments: ["253402300799", "253402300799000", #""9999-12-31T23:59:59.9999999Z""#, "100000000001"])
  func `an expiry in the far future stays there when the token is stored`(expiry: String) throws {
    let token = try decode(#"{"access_token":"t","expires_at":\#(expiry)}"#)
    let stored = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token))
    let year2050 = Date(timeIntervalSince1970: 2_524_608_000)
    #expect(try #require(token.expiresAt) > year2050)
    #expect(try #require(stored.expiresAt) > year2050)
  }

  @Test func `a token that is encoded decodes to itself`() throws {
    let token = AccessToken(
      "t", type: "MAC", expiresAt: Date(timeIntervalSince1970: 1_411_129_341.57), lifetime: .milliseconds(1_500),
      refreshToken: "r", scopes: ["b", "a"])
    let data = try JSONEncoder().encode(token)
    #expect(try JSONDecoder().decode(AccessToken.self, from: data) == token)
  }
}
