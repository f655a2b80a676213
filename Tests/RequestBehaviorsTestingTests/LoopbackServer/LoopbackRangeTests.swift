import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import Testing

/// Parts of a body that requests ask for.
@Suite(.limited) struct LoopbackRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let fields: HeaderFields
    let status: Int
    let body: String
    var range: String?

    var testDescription: String { "\(fields) gets \(status) \(body)" }
  }

  static let rows: [Row] = [
    Row(fields: [:], status: 200, body: "0123456789"),
    Row(fields: ["Range": "bytes=4-"], status: 206, body: "456789", range: "bytes 4-9/10"),
    Row(fields: ["Range": "bytes=4-5"], status: 206, body: "45", range: "bytes 4-5/10"),
    Row(fields: ["Range": "bytes=8-99"], status: 206, body: "89", range: "bytes 8-9/10"),
    Row(fields: ["Range": "bytes=8-9223372036854775807"], status: 206, body: "89", range: "bytes 8-9/10"),
    Row(fields: ["Range": "bytes=-3"], status: 206, body: "789", range: "bytes 7-9/10"),
    Row(fields: ["Range": "bytes=-99"], status: 206, body: "0123456789", range: "bytes 0-9/10"),
    Row(fields: ["Range": "bytes=10-"], status: 416, body: "", range: "bytes */10"),
    Row(fields: ["Range": "bytes=5-4"], status: 200, body: "0123456789"),
    Row(fields: ["Range": "bytes=1-2,4-5"], status: 200, body: "0123456789"),
    Row(fields: ["Range": "lines=1-2"], status: 200, body: "0123456789"),
    Row(fields: ["Range": "bytes=8-", "If-Range": "\"a\""], status: 206, body: "89", range: "bytes 8-9/10"),
    Row(fields: ["Range": "bytes=8-", "If-Range": "\"b\""], status: 200, body: "0123456789"),
    Row(fields: ["Range": "bytes=8-", "If-Range": "W/\"a\""], status: 200, body: "0123456789"),
  ]

  @Test(arguments: rows)
  func `a part of a body is sent if the request's range and condition allow it`(row: Row) async throws {
    let file = LoopbackResponse.text("0123456789").header("ETag", "\"a\"")
    let server = try LoopbackServer { file.part(for: $0) }
    let client = NetworkClient(baseURL: server.baseURL)
    let request = Request<NetworkResponse>(.get, "file", headers: row.fields)
      .with(\.acceptableStatuses, [200, 206, 416])
    let response = try await client.send(request)
    #expect(response.statusCode == row.status)
    #expect(try response.text == row.body)
    #expect(response.headers["Content-Range"] == row.range)
    #expect(response.headers["Accept-Ranges"] == "bytes")
  }
}
