import Foundation
// The types that decide are internal: a test of each clause asks them.
import RequestBehaviors
import Testing

@testable import RequestBehaviorsCaching

@Suite(.limited) struct CacheVariantTests {
  private func matches(_ vary: String, _ stored: HeaderFields, _ presented: HeaderFields) -> Bool {
    CacheVariant(of: ["Vary": vary], to: stored)?.matches(presented) ?? false
  }

  @Test(arguments: ["*", "*, *", ", *", "*, Foo", "Foo, *", "Foo Bar", "\"Foo\""])
  func `RFC 9111 §4.1: a Vary with a star, or with an invalid name, matches nothing`(vary: String) {
    #expect(CacheVariant(of: ["Vary": vary], to: ["Foo": "1"]) == nil)
    var lines: HeaderFields = ["Vary": ""]
    lines.append("Vary", vary)
    #expect(CacheVariant(of: lines, to: ["Foo": "1"]) == nil)
  }

  @Test(
    arguments: [
      ("Foo", ["Foo": "1"], ["Foo": "1"], true), ("foo", ["FOO": "1"], ["Foo": "1"], true),
      ("Foo", ["Foo": "1"], ["Foo": "2"], false),
      ("Foo", ["Foo": "1"], [:], false), ("Foo", [:], ["Foo": "1"], false), ("Foo", [:], [:], true),
      ("Foo", ["Foo": ""], [:], false),
      ("Foo", ["Foo": "1", "Other": "2"], ["Foo": "1", "Other": "3"], true), ("", [:], ["Foo": "1"], true),
      ("Foo, Bar", ["Foo": "1", "Bar": "2"], ["Bar": "2", "Foo": "1"], true),
      ("Foo, Bar", ["Foo": "1", "Bar": "2"], ["Foo": "1"], false),
      ("Foo", ["Foo": "a"], ["Foo": "A"], false), ("Foo", ["Foo": "1, 2"], ["Foo": "2, 1"], false),
    ] as [(String, HeaderFields, HeaderFields, Bool)])
  func `RFC 9111 §4.1: all the fields that Vary names must match, in any order of names`(
    vary: String, stored: HeaderFields, presented: HeaderFields, expected: Bool
  ) {
    #expect(matches(vary, stored, presented) == expected)
  }

  @Test func `RFC 9111 §4.1: white space and the number of lines do not matter`() {
    #expect(matches("Foo", ["Foo": "1,2"], ["Foo": "1 ,\t2 "]))
    var lines: HeaderFields = ["Foo": "1"]
    lines.append("Foo", "2")
    #expect(matches("Foo", ["Foo": "1, 2"], lines))
  }

  @Test(arguments: [
    ("en, de", "de, en", true), ("en, de", "eN, De", true), ("en, de", "en ,   de", true),
    ("en;q=0.5", "en; q=0.5", true),
    ("en, de", "en", false), ("en;q=1, de;q=0.5", "en;q=0.5, de;q=1", false),
  ])
  func `RFC 9111 §4.1: languages and codings are compared without regard to case and order`(
    stored: String, presented: String, expected: Bool
  ) {
    for name in ["Accept-Language", "Accept-Encoding"] {
      #expect(matches(name, [name: stored], [name: presented]) == expected)
    }
  }

  @Test func `secrets are not kept among the fields of a variant`() throws {
    let request = HeaderFields([.init("Authorization", "Bearer canary"), .init("X-Key", "canary", sensitive: .any)])
    let variant = try #require(CacheVariant(of: ["Vary": "Authorization, X-Key, Cookie"], to: request))
    #expect(!"\(variant)".contains("canary"))
    #expect(variant.fields.map(\.name) == ["authorization", "cookie", "x-key"])
  }
}

@Suite(.limited) struct ByteRangeTests {
  @Test(arguments: [
    ("bytes=0-1", 0..<2), ("bytes=1-", 1..<11), ("bytes=-1", 10..<11), ("Bytes=5-5", 5..<6), ("bytes=5-99", 5..<11),
    ("bytes=-99", 0..<11), ("bytes=10-", 10..<11),
  ])
  func `RFC 9110 §14.1.2: a range is a part of the body`(value: String, expected: Range<Int>) {
    #expect(ByteRange(value)?.offsets(inLength: 11) == expected)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1", "bytes=2-1", "bytes=0-1,3-4", "lines=0-1", "bytes=-1-2",
    "bytes=99999999999999999999-", "bytes= 0-1",
  ])
  func `RFC 9110 §14.2: several ranges, other units and malformed ranges are ignored`(value: String) {
    #expect(ByteRange(value) == nil)
  }

  @Test(arguments: ["bytes=11-", "bytes=11-20", "bytes=-0"])
  func `RFC 9110 §14.1.1: a range beyond the end has no part`(value: String) {
    #expect(ByteRange(value)?.offsets(inLength: 11) == nil)
    #expect(ByteRange("bytes=0-")?.offsets(inLength: 0) == nil)
  }

  @Test func `RFC 9110 §14.4: the part is described with the whole length`() {
    #expect(ByteRange.contentRange(4..<10, ofLength: 11) == "bytes 4-9/11")
  }
}
