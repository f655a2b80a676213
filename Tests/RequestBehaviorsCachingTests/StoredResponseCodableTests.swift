import Foundation
// The parts of a stored response are internal.
import RequestBehaviors
import TestSupport
import Testing

@testable import RequestBehaviorsCaching

/// The form in which a store of a user's own keeps a response.
@Suite(.limited) struct StoredResponseCodableTests {
  /// A response in which every field differs from its default.
  static let whole: StoredResponse = {
    var terms = StoredTerms(
      responseTime: Date(timeIntervalSinceReferenceDate: 789_000_061.987_654_3), initialAge: 1.25, lifetime: 60.5)
    (terms.requiresValidation, terms.forbidsStale, terms.isImmutable) = (true, true, true)
    (terms.staleWhileRevalidate, terms.staleIfError) = (6, 7.5)
    var headers = HeaderFields([.init("X-A", "1"), .init("x-a", "2, ä: \"3\""), .init("X-Empty", "")])
    headers.append("X-Session", "secret", sensitive: .any)
    var response = StoredResponse(
      statusCode: 203, headers: headers, body: Data(0...255),
      variant: CacheVariant(fields: [.init(name: "accept", value: "a:b"), .init(name: "foo", value: nil)]),
      storedAt: Date(timeIntervalSinceReferenceDate: 789_000_000.123_456_7), terms: terms)
    response.verification = .verified
    return response
  }()

  private static let plain = StoredResponse(
    statusCode: 200, headers: [:], body: Data(), variant: CacheVariant(fields: []), storedAt: arrival,
    terms: StoredTerms(responseTime: arrival, initialAge: 0, lifetime: 0))

  private func decoded(_ response: StoredResponse, _ change: (inout [String: Any]) -> Void = { _ in })
    throws -> StoredResponse
  {
    let data = try JSONEncoder().encode(response)
    var object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    change(&object)
    return try JSONDecoder().decode(StoredResponse.self, from: JSONSerialization.data(withJSONObject: object))
  }

  @Test(arguments: [whole, plain]) func `every field comes back as it was`(response: StoredResponse) throws {
    #expect(try decoded(response) == response)
    let list = try PropertyListEncoder().encode(response)
    #expect(try PropertyListDecoder().decode(StoredResponse.self, from: list) == response)
  }

  @Test func `strategies for dates do not matter`() throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    #expect(try decoder.decode(StoredResponse.self, from: encoder.encode(Self.whole)) == Self.whole)
  }

  @Test func `a field that is a secret for one origin is decoded as a secret for every origin`() throws {
    let headers = HeaderFields([.init("X-A", "1", sensitive: .baseURL), .init("X-B", "2")])
    let response = StoredResponse(
      statusCode: 200, headers: headers, body: Data(), variant: CacheVariant(fields: []), storedAt: arrival,
      terms: Self.plain.terms)
    #expect(try decoded(response).headers.map(\.sensitivity) == [.any, nil])
  }

  @Test(arguments: ["statusCode", "headers", "body", "variant", "storedAt", "terms", "verification"])
  func `a form without one of its parts is refused`(part: String) {
    #expect(throws: DecodingError.self) { try decoded(Self.whole) { $0[part] = nil } }
  }

  @Test(arguments: [99, 1_000, -1, Int.max]) func `an invalid status is refused`(status: Int) throws {
    #expect(throws: DecodingError.self) { try decoded(Self.whole) { $0["statusCode"] = status } }
    #expect(try decoded(Self.whole) { $0["statusCode"] = 999 }.statusCode == 999)
  }

  @Test(arguments: ["initialAge", "lifetime", "responseTime", "staleWhileRevalidate", "staleIfError"])
  func `invalid times and a negative age are refused`(name: String) throws {
    let list = PropertyListEncoder()
    list.outputFormat = .xml
    let text = String(decoding: try list.encode(Self.whole), as: UTF8.self)
    let pattern = try Regex("<key>\(name)</key>\\s*<real>[^<]*</real>")
    for value in ["nan", "inf", "-inf"] + (name == "initialAge" ? ["-0.5"] : []) {
      let broken = text.replacing(pattern, with: "<key>\(name)</key><real>\(value)</real>")
      #expect(broken != text)
      #expect(throws: DecodingError.self) {
        try PropertyListDecoder().decode(StoredResponse.self, from: Data(broken.utf8))
      }
    }
  }

  @Test func `keys and variants come back as they were`() throws {
    let key = CacheKey(url: "https://h/a?b=c", scopes: ["alice", "app\n"], discriminator: "x")
    #expect(try JSONDecoder().decode(CacheKey.self, from: JSONEncoder().encode(key)) == key)
    let variant = Self.whole.variant
    #expect(try JSONDecoder().decode(CacheVariant.self, from: JSONEncoder().encode(variant)) == variant)
  }

  @Test func `the marks of removals continue after they are saved and loaded`() throws {
    let key = CacheKey(url: "u", scopes: ["alice"], discriminator: "")
    var removals = CacheRemovals()
    let mark = removals.mark
    removals.note(scope: "alice")
    removals = try JSONDecoder().decode(CacheRemovals.self, from: JSONEncoder().encode(removals))
    #expect(!removals.allow(key, since: mark))
    #expect(removals.allow(key, since: removals.mark))
    removals.note(url: "other")
    #expect(removals.allow(key, since: CacheMark(mark.number + 1)))
  }

  @Test(arguments: [#"{"start":-1,"removed":""}"#, #"{"start":4611686018427387904,"removed":""}"#])
  func `removals with a number that no cache can have reached are refused`(text: String) {
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(CacheRemovals.self, from: Data(text.utf8)) }
  }

  @Test func `the latest 1,000 removals at least are remembered, and no more than 2,000`() {
    let key = CacheKey(url: "u", scopes: [], discriminator: "")
    var removals = CacheRemovals()
    var marks: [CacheMark] = []
    for number in 0..<10_000 {
      marks.append(removals.mark)
      removals.note(url: "\(number)")
    }
    #expect(marks.suffix(1_000).allSatisfy { removals.allow(key, since: $0) })
    #expect(!marks.dropLast(2_000).contains { removals.allow(key, since: $0) })
    #expect(!removals.allow(key, since: CacheMark(removals.mark.number + 1)))
    #expect(!CacheRemovals().allow(key, since: removals.mark))
  }
}
