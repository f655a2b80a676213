import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct WebLinkTests {
  private func links(_ values: String..., from url: String = "http://example.com/TheBook/") throws -> WebLinks {
    var headers = HeaderFields()
    for value in values { headers.append("Link", value) }
    let request = NetworkRequest(url: try #require(URL(string: url)))
    return NetworkResponse(request: request, statusCode: 200, headers: headers).links
  }

  // The examples of RFC 8288 §3.5.
  @Test func `the examples of the standard are read`() throws {
    let one = try links(#"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#)
    #expect(one.count == 1)
    #expect(one["previous"]?.absoluteString == "http://example.com/TheBook/chapter2")
    #expect(one[0].title == "previous chapter")

    let root = try links(#"</>; rel="http://example.net/foo""#)
    #expect(root["http://example.net/foo"]?.absoluteString == "http://example.com/")

    let two = try links(
      #"</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, "#
        + #"</TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel"#)
    #expect(two.map(\.title) == ["letztes Kapitel", "nächstes Kapitel"])
    #expect(two["next"]?.absoluteString == "http://example.com/TheBook/chapter4")

    let several = try links(#"<http://example.org/>; rel="start http://example.net/relation/other""#)
    #expect(several[0].relations == ["start", "http://example.net/relation/other"])

    let list = try links(#"<https://example.org/>; rel="start", <https://example.org/index>; rel="index""#)
    #expect(list["index"]?.absoluteString == "https://example.org/index")
  }

  @Test func `a link with another context than the response is ignored`() throws {
    #expect(try links(##"</terms>; rel="copyright"; anchor="#foo""##).isEmpty)
    #expect(try links(#"</2>; rel="next"; anchor="http://other.example/""#).isEmpty)
    #expect(try links(#"</2>; rel="next"; anchor="http://example.com/TheBook/""#)["next"] != nil)
    #expect(try links(#"</2>; rel="next"; anchor="""#)["next"] != nil)
  }

  @Test(arguments: [
    (#"</a>;rel=next"#, ["http://example.com/a"]),
    (#"</a> ; REL = "NEXT" "#, ["http://example.com/a"]),
    (#"<?page=2>; rel=next"#, ["http://example.com/TheBook/?page=2"]),
    (#"<b>; rel=next"#, ["http://example.com/TheBook/b"]),
    (#"<../../c>; rel=next"#, ["http://example.com/c"]),
    (#"<//h.example/d>; rel=next"#, ["http://h.example/d"]),
    (#"<>; rel=next"#, ["http://example.com/TheBook/"]),
    (#"</a b?q=é>; rel=next"#, ["http://example.com/a%20b?q=%C3%A9"]),
    (#"</a?x=1,2;3>; rel=next"#, ["http://example.com/a?x=1,2;3"]),
    (#"</a>; title="x, </evil>; rel=prev"; rel=next"#, ["http://example.com/a"]),
    (#"</a>; title="say \"hi\\"; rel=next"#, ["http://example.com/a"]),
    (#"</a>; rel=next; rel=prev"#, ["http://example.com/a"]),
    (#"</a>; crossorigin; rel=next"#, ["http://example.com/a"]),
    (#"</a>;; ;rel=next;"#, ["http://example.com/a"]),
    (#",, </a>; rel=prev ,, </b>; rel=next,"#, ["http://example.com/a", "http://example.com/b"]),
    (#"</a>; rel=next junk, </b>; rel=prev"#, ["http://example.com/a", "http://example.com/b"]),
  ])
  func `forms that servers send are read`(value: String, urls: [String]) throws {
    let links = try links(value)
    #expect(links.map(\.url.absoluteString) == urls)
    if urls.count == 1 { #expect(links["Next"]?.absoluteString == urls[0]) }
  }

  @Test(arguments: [
    "", " ", ",", "<", "</a", "</a>", "</a>; rel", "</a>; rel=", #"</a>; rel="""#, "a; rel=next", "</a>; title=x",
    "<mailto:a@b.c>; rel=next", "<javascript:x>; rel=next", "<http://u:p@h/>; rel=next", "<http://[/>; rel=next",
    #"<\u{0}>; rel"#, "</a>; rev=next",
  ])
  func `a value without a link to a page is ignored`(value: String) throws {
    #expect(try links(value).isEmpty)
  }

  @Test func `links of several fields come in order, the first of a relation wins`() throws {
    let links = try links("</1>; rel=next", "</2>; rel=next, </3>; rel=last")
    #expect(links.map(\.url.path) == ["/1", "/2", "/3"])
    #expect(links["next"]?.path == "/1")
    #expect(links["none"] == nil)
    #expect(links[0]["REL"] == "next")
  }

  @Test func `a relative link does not take the fragment of the response's URL`() throws {
    #expect(try links("<2>; rel=next", from: "http://h/a#x")["next"]?.absoluteString == "http://h/2")
    #expect(try links("<#y>; rel=me", from: "http://h/a#x")["me"]?.absoluteString == "http://h/a#y")
  }

  @Test func `a title in a charset other than UTF-8 is ignored in favor of the plain one`() throws {
    let links = try links(#"</1>; rel=next; title="plain"; title*=iso-8859-1''%e4"#)
    #expect(links[0].title == "plain")
  }
}
