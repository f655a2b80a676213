import RequestBehaviors
import TestSupport
import Testing

/// Names of header fields that the compiler completes.
@Suite(.limited) struct HeaderFieldNameTests {
  private let headers: HeaderFields = ["content-type": "text/plain", "Accept": "a", "accept": "b"]

  @Test func `a field is found by a name of another case`() {
    #expect(headers[.contentType] == "text/plain")
  }

  @Test func `names are equal regardless of case`() {
    #expect(HeaderFields.Name.contentType == "CONTENT-type")
  }

  @Test func `names that are equal are one member of a set`() {
    #expect(Set<HeaderFields.Name>(["ETag", "etag", .eTag]).count == 1)
  }

  @Test func `a name is sent as it is written`() {
    var headers = HeaderFields()
    headers[.eTag] = "\"a\""
    #expect(headers.map(\.name) == ["ETag"])
  }

  @Test func `all values of a name are found`() {
    #expect(headers.values(for: .accept) == ["a", "b"])
  }

  @Test func `a field has its name in any case`() {
    #expect(headers.map { $0.isNamed(.accept) } == [false, true, true])
  }

  @Test func `a field is added and removed by its name`() {
    var headers = headers
    headers.append(.vary, "Origin")
    headers.remove(.accept)
    #expect(headers.map(\.name) == ["content-type", "Vary"])
  }

  @Test func `a secret is set by its name`() {
    var headers = HeaderFields()
    headers.set(.authorization, "Bearer abc", sensitive: .baseURL)
    #expect(headers.field(named: .authorization)?.sensitivity == .baseURL)
  }

  @Test func `a name of a user is a constant`() {
    #expect(HeaderFields([.init(.shopRegion, "eu")]).contains(.shopRegion))
  }
}

extension HeaderFields.Name {
  fileprivate static let shopRegion: Self = "X-Shop-Region"
}
