import RequestBehaviors
import RequestBehaviorsOAuth1
import Testing

/// Base strings as services quote them in pages of HTML.
@Suite(.limited) struct OAuth1QuotedBaseStringTests {
  @Test func `an empty part of a quoted base string is a part`() throws {
    let signature = try OAuth1Signature.sample("https://h/?a=1")
    #expect(signature.difference(from: "GET&amp;&amp;x")?.part == .uri)
    #expect(signature.difference(from: "&amp;&amp;")?.part == .method)
    #expect(signature.difference(from: "GET&amp;x")?.part == .form)
  }
}
