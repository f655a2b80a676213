import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct LogEntriesTests {
  /// The record of a call.
  private func record(
    _ request: Request<Void> = .get("users/\("ann")", query: ["page": 2]), status: Int = 200, body: String = "",
    bodyLimit: Int = 0
  ) async throws -> LogRecord {
    let records = Box<[LogRecord]>([])
    let sink = ClosureLogSink { record in records.update { $0.append(record) } }
    let transport = ClosureTransport { request in
      NetworkResponse(
        request: request, statusCode: status, headers: ["Content-Type": "text/plain"], body: .data(Data(body.utf8)),
        timings: ResponseTimings(sent: .zero, lastByte: .milliseconds(25)))
    }
    let client = NetworkClient(transport, [.logging(sink, level: .info, bodyLimit: bodyLimit)])
    do { try await client.send(request) } catch {}
    return try #require(records.value.last)
  }

  private func text(_ entry: LogRecord.Entry) -> String { entry.open + entry.personal }

  @Test func `a short record is one entry, in which the URL is personal`() async throws {
    let record = try await record()
    let entries = record.entries(limit: 1_000, hidesPersonal: true)
    #expect(entries.count == 1)
    #expect(entries[0].open.hasPrefix("#\(record.call) GET /v1/users/{} 200 0 B in "))
    #expect(!entries[0].open.contains("ann"))
    #expect(entries[0].personal.contains("/users/ann?page=2"))
    let open = record.entries(limit: 1_000, hidesPersonal: false)
    #expect(open.map(\.open) == [record.line])
    #expect(open[0].personal.isEmpty)
  }

  @Test func `the message of an error is personal, its code is not`() async throws {
    let entry = try await record(status: 404).entries(limit: 1_000, hidesPersonal: true)[0]
    #expect(entry.open.hasSuffix(" failed "))
    #expect(entry.personal.contains("the server answered 404"))
  }

  @Test(arguments: ["a", "é", "€", "😀", "ab\n"])
  func `a long record is split into entries within the limit, without loss`(piece: String) async throws {
    let body = String(repeating: piece, count: 1_200)
    let record = try await record(body: body, bodyLimit: 10_000)
    for hidesPersonal in [true, false] {
      let entries = record.entries(limit: 1_000, hidesPersonal: hidesPersonal)
      #expect(entries.count > 1)
      #expect(entries.allSatisfy { text($0).utf8.count <= 1_000 })
      let whole = entries.map(text).joined()
      let wanted = piece.unicodeScalars.first
      #expect(whole.unicodeScalars.count { $0 == wanted } >= 1_200)
      #expect(!whole.unicodeScalars.contains("\u{FFFD}"))
      for (index, entry) in entries.enumerated().dropFirst() {
        #expect(entry.open.hasPrefix("#\(record.call) \(index + 1)/\(entries.count) "))
      }
    }
  }

  @Test func `an endpoint longer than an entry is cut`() async throws {
    let link = try #require(URL(string: "https://api.example.com/" + String(repeating: "é", count: 3_000)))
    let entries = try await record(.get(url: link)).entries(limit: 1_000, hidesPersonal: true)
    #expect(entries.allSatisfy { text($0).utf8.count <= 1_000 })
  }
}
