import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ResponseSpoolTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "ResponseSpool-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  private func body(limit: Int64 = 1 << 30, memory: Int = 10) -> ResponseSpool {
    ResponseSpool(BodySpool(memoryLimit: memory, limit: limit, directory: directory))
  }

  private func bytes(_ text: String) -> Data { Data(text.utf8) }

  @Test func `chunks that the reader has not read keep their order, and their files have no name`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let body = body()
    for text in ["12345", "67890", "abcde", "fghij"] { try body.push(bytes(text)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    body.end(.success(()))
    var all = Data()
    while let chunk = try await body.next() {
      #expect(chunk.count <= 10)
      all.append(chunk)
    }
    #expect(all == bytes("1234567890abcdefghij"))
    #expect(try await body.next() == nil)
  }

  @Test(arguments: 1...20)
  func `every byte is in its place, whether the reader or the writer is faster`(seed: UInt64) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    var generator = SeededGenerator(seed: seed)
    let sizes = (0..<200).map { _ in Int.random(in: 1...40, using: &generator) }
    let pauses = Set((0..<200).filter { _ in Bool.random(using: &generator) })
    let total = sizes.reduce(0, +)
    let content = Data((0..<total).map { UInt8(truncatingIfNeeded: $0 / 3) })
    let body = body(memory: 64)
    let reader = Task {
      var all = Data()
      while let chunk = try await body.next() { all.append(chunk) }
      return all
    }
    var position = 0
    for (index, size) in sizes.enumerated() {
      try body.push(content[position..<(position + size)])
      position += size
      // This only varies the interleaving.
      if pauses.contains(index) { await Task.yield() }
    }
    body.end(.success(()))
    #expect(try await reader.value == content)
  }

  @Test func `an error is delivered after the bytes received before it`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let body = body()
    try body.push(bytes("1234567890"))
    try body.push(bytes("abc"))
    body.end(.failure(NetworkError(.connectionLost, "the test's connection is lost")))
    try body.push(bytes("too late"))
    #expect(try await body.next() == bytes("1234567890"))
    #expect(try await body.next() == bytes("abc"))
    let error = await #expect(throws: NetworkError.self) { try await body.next() }
    #expect(error?.code == .connectionLost)
  }

  @Test func `a chunk beyond the limit of unread bytes is an error`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let body = body(limit: 5)
    try body.push(bytes("1234567890"))
    try body.push(bytes("abcde"))
    let error = #expect(throws: NetworkError.self) { try body.push(bytes("f")) }
    #expect(error?.code == .bodyTooLarge)
    #expect(try await body.next() == bytes("1234567890"))
    #expect(try await body.next() == bytes("abcde"))
    try body.push(bytes("f"))
    #expect(try await body.next() == bytes("f"))
  }

  @Test func `the error for a missing directory names it`() throws {
    try FileManager.default.removeItem(at: directory)
    let body = body()
    try body.push(bytes("1234567890"))
    let error = #expect(throws: NetworkError.self) { try body.push(bytes("a")) }
    #expect(error?.code == .bodyUnreadable)
    #expect(error?.message.contains(directory.path) == true)
  }

  @Test func `a reader that waits is woken by the next chunk, by the end and by cancelling`() async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let body = body()
    let first = Task { try await body.next() }
    try body.push(bytes("1"))
    #expect(try await first.value == bytes("1"))
    let second = Task { try await body.next() }
    body.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(body.isEnded)
  }

  @Test(arguments: [0, -1])
  func `a spool without memory keeps everything in files, and delivers it`(memory: Int) async throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let body = body(memory: memory)
    for text in ["12345", "67890"] { try body.push(bytes(text)) }
    body.end(.success(()))
    var all = Data()
    while let chunk = try await body.next() { all.append(chunk) }
    #expect(all == bytes("1234567890"))
  }

  @Test func `a directory that takes no file is an error, after which the body can be ended`() async throws {
    try? FileManager.default.removeItem(at: directory)
    let body = body(memory: 4)
    try body.push(bytes("1234"))
    let error = #expect(throws: NetworkError.self) { try body.push(bytes("5")) }
    #expect(error?.code == .bodyUnreadable)
    body.end(.failure(NetworkError(.bodyUnreadable, "no file")))
    #expect(try await body.next() == bytes("1234"))
    await #expect(throws: NetworkError.self) { try await body.next() }
  }
}
