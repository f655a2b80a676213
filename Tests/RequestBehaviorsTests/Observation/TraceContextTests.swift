import Foundation
import RequestBehaviors
import Testing

@Suite(.limited) struct TraceContextTests {
  private let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  @Test func `a traceparent is read and written back`() throws {
    let context = try #require(TraceContext(traceparent: parent))
    #expect(context.traceID == "0af7651916cd43dd8448eb211c80319c")
    #expect(context.parentID == "b7ad6b7169203331")
    #expect(context.isSampled)
    #expect(context.traceparent == parent)
  }

  @Test func `no two of many traces have an id in common`() async {
    let ids = await withTaskGroup(of: [String].self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<2_000).map { _ in TraceContext.root() }.flatMap { [$0.traceID, $0.parentID] } }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(ids).count == 32_000)
  }

  @Test func `ids of all sixteen digits are written back`() throws {
    let all = "00-0123456789abcdeffedcba9876543210-f0e1d2c3b4a59687-01"
    let context = try #require(TraceContext(traceparent: all))
    #expect(context.traceID == "0123456789abcdeffedcba9876543210")
    #expect(context.parentID == "f0e1d2c3b4a59687")
    #expect(context.traceparent == all)
  }

  @Test(arguments: [
    "", "00", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333g-01",
    "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
    " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319é-b7ad6b7169203331-01",
  ])
  func `a malformed traceparent is ignored`(value: String) {
    #expect(TraceContext(traceparent: value) == nil)
  }

  @Test func `the known part of a later version is read, and is written as version 00`() throws {
    let later = try #require(TraceContext(traceparent: "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-what"))
    #expect(later.traceparent == parent)
  }

  @Test func `a child has the same trace and a new parent`() throws {
    let context = try #require(TraceContext(traceparent: parent, tracestate: "rojo=1"))
    let child = context.child { 0xAB }
    #expect(child.traceparent == "00-0af7651916cd43dd8448eb211c80319c-00000000000000ab-01")
    #expect(child.tracestate == "rojo=1")
  }

  @Test func `ids are valid even from a source of zeros`() {
    let root = TraceContext.root(isSampled: false) { 0 }
    #expect(root.traceparent == "00-00000000000000000000000000000001-0000000000000001-00")
    #expect(TraceContext(traceparent: root.traceparent) == root)
  }

  @Test(arguments: [
    ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
    (" a=1 ,\tb=2,, ", "a=1,b=2"), ("tenant@vendor=x", "tenant@vendor=x"), ("a=1,a=2", nil), ("A=1", nil), ("a", nil),
    ("a=", nil), ("a=b=c", nil), ("a=\u{7F}", nil), ("", nil),
    ((0..<33).map { "k\($0)=v" }.joined(separator: ","), nil),
  ])
  func `a tracestate is passed on in order, or dropped when malformed`(value: String, expected: String?) {
    #expect(TraceContext(traceparent: parent, tracestate: value)?.tracestate == expected)
  }

  @Test func `a tracestate that is too long drops long entries first, then those at the end`() {
    let long = "long=" + String(repeating: "x", count: 200)
    let short = (0..<20).map { "key\($0)=" + String(repeating: "y", count: 20) }
    let value = ([long] + short).joined(separator: ",")
    let kept = TraceContext(traceparent: parent, tracestate: value)?.tracestate
    #expect(kept == short[..<19].joined(separator: ","))
  }
}
