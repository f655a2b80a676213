import Foundation
import TestSupport
import Testing

// The decisions are not public: a table of them is quicker to read than the servers that lead to them.
@testable import RequestBehaviors

/// The decision that follows from the head of a response.
@Suite(.limited) struct DownloadHeadDecisionTests {
  private static let tagged = DownloadHeadDecision.Partial(
    record: DownloadRecord(key: "k", salt: Data(), validator: "\"a\"", source: "", total: 10), length: 4)
  private static let dated = DownloadHeadDecision.Partial(
    record: DownloadRecord(key: "k", salt: Data(), validator: "Sun, 06 Nov 1994 08:49:37 GMT", source: "", total: nil),
    length: 4)

  struct Row: Sendable, CustomTestStringConvertible {
    let partial: DownloadHeadDecision.Partial?
    let status: Int
    let headers: HeaderFields
    let step: DownloadHeadDecision

    init(_ partial: DownloadHeadDecision.Partial?, _ status: Int, _ headers: HeaderFields, _ step: DownloadHeadDecision)
    {
      self.partial = partial
      self.status = status
      self.headers = headers
      self.step = step
    }

    init(_ partial: DownloadHeadDecision.Partial?, _ status: Int, _ step: DownloadHeadDecision) {
      self.init(partial, status, [:], step)
    }

    var testDescription: String { "\(partial?.length ?? 0) bytes, \(status) \(headers): \(step)" }
  }

  static let rows: [Row] = [
    Row(nil, 200, .begin),
    Row(nil, 203, .begin),
    Row(nil, 204, .begin),
    Row(nil, 304, .pass),
    Row(nil, 404, .pass),
    Row(nil, 416, .pass),
    Row(
      nil, 206, ["Content-Range": "bytes 0-9/10"],
      .fail("the server sent a part of the file where all of it was asked for")),
    Row(tagged, 200, .begin),
    Row(tagged, 304, .pass),
    Row(tagged, 412, .pass),
    Row(tagged, 503, .pass),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10", "ETag": "\"a\""], .append(total: 10)),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10", "ETag": "\"a\""], .append(total: 10)),
    Row(tagged, 206, ["Content-Range": "Bytes 4-6/10", "ETag": "\"a\""], .append(total: 10)),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/*", "ETag": "\"a\""], .append(total: 10)),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-9/10", "Content-Encoding": "identity", "ETag": "\"a\""],
      .append(total: 10)),
    Row(
      dated, 206, ["Content-Range": "bytes 4-9/*", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
      .restart("the length of the file is not known")),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-9/10", "Content-Length": "9223372036854775807", "ETag": "\"a\""],
      .restart("the rest has 9223372036854775807 bytes and says that it has 6")),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10", "Content-Length": "6", "ETag": "\"a\""], .append(total: 10)),
    Row(
      dated, 206, ["Content-Range": "bytes 4-9/20", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
      .append(total: 20)),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10", "ETag": "\"b\""], .restart("the rest is of other content")),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10", "ETag": "W/\"a\""], .restart("the rest is of other content")),
    Row(
      dated, 206, ["Content-Range": "bytes 4-9/10", "Last-Modified": "Sun, 06 Nov 1994 08:49:38 GMT"],
      .restart("the rest is of other content")),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-9/10", "Content-Encoding": "gzip", "ETag": "\"a\""],
      .restart("the rest is encoded")),
    Row(tagged, 206, ["Content-Range": "bytes 0-9/10", "ETag": "\"a\""], .restart("the rest begins at 0")),
    Row(tagged, 206, ["Content-Range": "bytes 5-9/10", "ETag": "\"a\""], .restart("the rest begins at 5")),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-9/11", "ETag": "\"a\""],
      .restart("the length of the file is another one now")),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-11/*", "ETag": "\"a\""],
      .restart("the length of the file is another one now")),
    Row(tagged, 206, ["ETag": "\"a\""], .restart("the rest does not say which part it is")),
    Row(tagged, 206, ["Content-Range": "bytes 4-9/10"], .restart("the rest does not say of which content it is")),
    Row(
      tagged, 206, ["Content-Range": "bytes 4-9/10", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"],
      .restart("the rest does not say of which content it is")),
    Row(dated, 206, ["Content-Range": "bytes 4-9/10"], .restart("the rest does not say of which content it is")),
    Row(
      dated, 206, ["Content-Range": "bytes 4-9/10", "ETag": "\"a\""],
      .restart("the rest does not say of which content it is")),
    Row(
      tagged, 206, ["Content-Type": "multipart/byteranges; boundary=x", "ETag": "\"a\""],
      .restart("the rest does not say which part it is")),
    Row(
      tagged, 206, ["Content-Range": "bytes */10", "ETag": "\"a\""], .restart("the rest does not say which part it is")),
    Row(tagged, 416, ["Content-Range": "bytes */4"], .complete),
    Row(tagged, 416, ["Content-Range": "bytes */10"], .restart("the file is not as long as what is there")),
    Row(
      tagged, 416, ["Content-Range": "bytes */4", "ETag": "\"b\""],
      .restart("the file is not as long as what is there")),
    Row(tagged, 416, .restart("the file is not as long as what is there")),
    Row(
      DownloadHeadDecision.Partial(
        record: DownloadRecord(key: "k", salt: Data(), validator: "\"a\"", source: "", total: 4), length: 4),
      416, .complete),
  ]

  @Test(arguments: rows)
  func `status, range and validators decide how a download continues`(row: Row) {
    let step = DownloadHeadDecision(
      after: row.partial, status: row.status, row.headers, isAccepted: (200...299).contains(row.status))
    #expect(step == row.step)
  }

  @Test(arguments: [200, 206, 304, 416])
  func `a part from another place than the unfinished file is not used`(status: Int) {
    let step = DownloadHeadDecision(
      after: Self.tagged, status: status,
      ["Content-Range": status == 206 ? "bytes 4-9/10" : "bytes */4", "ETag": "\"a\""],
      isAccepted: status < 300, isElsewhere: true)
    let steps: [Int: DownloadHeadDecision] = [200: .begin, 304: .pass]
    #expect(step == steps[status] ?? .restart("the rest is in another place now"))
  }

  @Test(arguments: [200, 206, 304, 416], [true, false])
  func `a verified part and one that is not are not joined`(status: Int, isProved: Bool) {
    let beginning = DownloadHeadDecision.Partial(
      record: DownloadRecord(
        key: "k", salt: Data(), validator: "\"a\"", source: "", total: 10, isProved: !isProved), length: 4)
    let step = DownloadHeadDecision(
      after: beginning, status: status,
      ["Content-Range": status == 206 ? "bytes 4-9/10" : "bytes */4", "ETag": "\"a\""],
      isAccepted: status < 300, isProved: isProved)
    let reason = isProved ? "what is there was not verified" : "the rest is not verified, and what is there is"
    let steps: [Int: DownloadHeadDecision] = [200: .begin, 304: .pass]
    #expect(step == steps[status] ?? .restart(reason))
  }

  @Test func `a range that the request asks for is written as received`() {
    let step = DownloadHeadDecision(
      after: nil, status: 206, ["Content-Range": "bytes 4-9/10"], isAccepted: true, isPartWanted: true)
    #expect(step == .begin)
  }

  @Test(
    arguments: [
      "bytes 4-9", "bytes 4-9/", "bytes 9-4/10", "bytes 4-10/10", "bytes -9/10", "bytes 4-/10", "items 4-9/10",
      "bytes 4-9/10/11", "bytes +4-9/10", "bytes 4-9223372036854775807/*", "bytes 4-9/-1", "bytes */x", "", "bytes",
    ])
  func `a malformed range is ignored`(value: String) { #expect(ContentRange(value) == nil) }
}

/// The record that is kept to request the rest of a file.
@Suite(.limited) struct DownloadRecordTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private static let second = "Sun, 06 Nov 1994 08:49:38 GMT"

  private static let fields: [(HeaderFields, String?)] = [
    (["ETag": "\"a\""], "\"a\""),
    (["ETag": "W/\"a\""], nil),
    (["ETag": "a"], nil),
    (["ETag": "\""], nil),
    (["ETag": "\"a\u{1}\""], nil),
    ([:], nil),
    (["ETag": "\"a\"", "Content-Encoding": "gzip"], nil),
    (["ETag": "\"a\"", "Accept-Ranges": "none"], nil),
    (["ETag": "\"a\"", "Accept-Ranges": "bytes"], "\"a\""),
    (["Last-Modified": date, "Date": second], date),
    (["Last-Modified": date, "Date": date], nil),
    (["Last-Modified": date], nil),
    (["Last-Modified": "yesterday", "Date": date], nil),
    (["ETag": "W/\"a\"", "Last-Modified": date, "Date": second], nil),
  ]

  @Test(arguments: fields)
  func `a record keeps only a strong validator`(headers: HeaderFields, validator: String?) {
    let owner = DownloadOwner(NetworkRequest(url: baseURL))
    #expect(DownloadRecord(of: headers, from: baseURL, for: owner)?.validator == validator)
  }

  @Test func `a record holds hashes of the URL and the user, and a damaged or newer record is ignored`() throws {
    let call = Call()
    call.add(scope: "user:mona", of: 0)
    let url = try #require(URL(string: "https://h.example/a?key=canary"))
    let owner = DownloadOwner(NetworkRequest(url: url, call: call))
    let record = try #require(DownloadRecord(of: ["ETag": "\"a\"", "Content-Length": "7"], from: url, for: owner))
    let data = try JSONEncoder().encode(record)
    let text = String(decoding: data, as: UTF8.self)
    #expect(!text.contains("canary"))
    #expect(!text.contains("mona"))
    #expect(record.total == 7)
    #expect(DownloadRecord(data) == record)
    #expect(DownloadRecord(data.dropLast()) == nil)
    // A value of `If-Range` must fit into a field.
    let broken = DownloadRecord(key: record.key, salt: record.salt, validator: "\"\n\"", source: "", total: 1)
    #expect(try DownloadRecord(JSONEncoder().encode(broken)) == nil)
    #expect(DownloadRecord(Data(text.replacingOccurrences(of: "\"version\":3", with: "\"version\":4").utf8)) == nil)
    #expect(owner.owns(record))
    #expect(!DownloadOwner(NetworkRequest(url: url)).owns(record))
  }
}
