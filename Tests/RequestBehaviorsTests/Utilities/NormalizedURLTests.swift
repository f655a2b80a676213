import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The form of a URL in which equal URLs are equal texts, by which caches and shared requests know them.
@Suite(.limited) struct NormalizedURLTests {
  @Test(arguments: [
    ("https://api.example.com/users?page=2", "https://api.example.com/users?page=2"),
    ("HTTPS://API.Example.com/Users?Page=2", "https://api.example.com/Users?Page=2"),
    ("https://api.example.com", "https://api.example.com/"),
    ("https://api.example.com?a=b", "https://api.example.com/?a=b"),
    ("https://api.example.com:443/a", "https://api.example.com/a"),
    ("https://api.example.com:80/a", "https://api.example.com:80/a"),
    ("http://api.example.com:80/a", "http://api.example.com/a"),
    ("http://api.example.com:443/a", "http://api.example.com:443/a"),
    ("http://api.example.com:8080/a", "http://api.example.com:8080/a"),
    ("http://api.example.com:/a", "http://api.example.com/a"),
    ("https://api.example.com/a#part", "https://api.example.com/a"),
    ("https://api.example.com#part", "https://api.example.com/"),
    ("https://Ann:Secret@API.example.com/a", "https://Ann:Secret@api.example.com/a"),
    ("https://[2001:DB8::80]/a", "https://[2001:db8::80]/a"),
    ("https://api.example.com/a?next=HTTP://B", "https://api.example.com/a?next=HTTP://B"),
    ("mailto:Ann@Example.com", "mailto:Ann@Example.com"),
  ]) func `all notations of a URL have the same normal form`(text: String, form: String) throws {
    #expect(try #require(URL(string: text)).normalizedText == form)
  }
}
