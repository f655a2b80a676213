import Foundation
import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

@Suite(.limited) struct ByteStreamTests {
  private let source = ChunkSource()
  private let completions = Box<[BodyCompletion]>([])

  /// A stream of the source whose completions are noted.
  private func stream() -> ByteStream {
    let stream = source.stream
    stream.onCompletion { [completions] completion in completions.update { $0.append(completion) } }
    return stream
  }

  @Test func `a stream delivers its chunks, and reports the number of bytes and the trailers`() async throws {
    source.send("one")
    source.send("four")
    source.finish(trailers: ["X-Sum": "7"])
    let stream = stream()
    #expect(try await stream.texts() == ["one", "four"])
    #expect(source.cancelCount == 0)
    let completion = try await stream.completion
    #expect(completion.byteCount == 7)
    #expect(completion.trailers == ["X-Sum": "7"])
    #expect(completion.error == nil)
    #expect(completions.value.count == 1)
  }

  @Test func `a stream is read once: a second iteration throws`() async throws {
    source.send("one")
    source.finish()
    let stream = stream()
    _ = try await stream.texts()
    let error = await #expect(throws: NetworkError.self) { try await stream.texts() }
    #expect(error?.code == .bodyConsumed)
    var (first, second) = (source.stream.makeAsyncIterator(), stream.makeAsyncIterator())
    await #expect(throws: NetworkError.self) { try await second.next() }
    #expect(try await first.next() == nil)
  }

  @Test func `a second iteration during the first throws, and the first continues`() async throws {
    let stream = stream()
    source.send("one")
    var first = stream.makeAsyncIterator()
    do {
      var second = stream.makeAsyncIterator()
      await #expect(throws: NetworkError.self) { try await second.next() }
    }
    #expect(source.cancelCount == 0)
    #expect(try await first.next() == Data("one".utf8))
  }

  @Test func `a stream that is dropped unread is cancelled`() {
    do { _ = stream() }
    #expect(source.cancelCount == 1)
    #expect(completions.value.map { $0.error is CancellationError } == [true])
  }

  @Test func `leaving the loop cancels the stream, though its value is kept`() async throws {
    source.send("one")
    let stream = stream()
    for try await _ in stream { break }
    #expect(source.cancelCount == 1)
    #expect(completions.value.map(\.byteCount) == [3])
    stream.cancel()
    #expect(source.cancelCount == 1)
  }

  @Test func `cancelling the task that reads cancels the stream, and does not count as the end of the body`()
    async throws
  {
    let stream = stream()
    let reading = TestGate()
    source.send("one")
    let task = Task {
      for try await _ in stream { reading.open() }
    }
    await reading.pass()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.cancelCount == 1)
    #expect(try await stream.completion.error is CancellationError)
  }

  @Test func `a stream that a cancelled task reads first is cancelled`() async throws {
    source.send("one")
    let stream = stream()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await stream.texts()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.cancelCount == 1)
  }

  @Test func `a failure ends the stream after its chunks, and is thrown again`() async throws {
    source.send("one")
    source.finish(NetworkError(.connectionLost, "the test's source is lost"))
    let stream = stream()
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == Data("one".utf8))
    for _ in 1...2 {
      let error = await #expect(throws: NetworkError.self) { try await iterator.next() }
      #expect(error?.code == .connectionLost)
    }
    #expect(completions.value.map { ($0.error as? NetworkError)?.code } == [.connectionLost])
    #expect(completions.value.map(\.byteCount) == [3])
  }

  @Test func `the canceller of a stream chooses the error that its reader gets`() async throws {
    let stream = stream()
    stream.cancel(throwing: NetworkError(.timedOut, "the test has no time"))
    let error = await #expect(throws: NetworkError.self) { try await stream.texts() }
    #expect(error?.code == .timedOut)
    #expect(source.cancelCount == 1)
  }

  @Test func `a canceller ends a stream under way and does not keep it`() async throws {
    let stream = stream()
    let canceller = stream.canceller
    let task = Task { try await stream.texts() }
    canceller.cancel(throwing: NetworkError(.timedOut, "the test has no time"))
    let error = await #expect(throws: NetworkError.self) { try await task.value }
    #expect(error?.code == .timedOut)
    let other = ChunkSource()
    let unused = other.stream.canceller
    #expect(other.cancelCount == 1)
    unused.cancel()
    #expect(other.cancelCount == 1)
  }

  @Test func `a stream that wraps another cancels it, whatever ends it early`() async throws {
    struct Unreadable: Error {}
    for ending in ["drop", "break", "failure", "cancel"] {
      let source = ChunkSource()
      source.send("one")
      do {
        let stream = source.stream.wrapped { $0.map { if ending == "failure" { throw Unreadable() } else { $0 } } }
        switch ending {
        case "break": for try await _ in stream { break }
        case "failure": await #expect(throws: Unreadable.self) { try await stream.texts() }
        case "cancel": stream.cancel()
        default: break
        }
      }
      #expect(source.cancelCount == 1, "\(ending)")
    }
  }

  @Test func `a stream that wraps another counts its own bytes and has the other's trailers`() async throws {
    source.send("one")
    source.finish(trailers: ["X-Sum": "3"])
    let stream = stream()
    let wrapped = stream.wrapped { $0.map { $0 + $0 } }
    #expect(try await wrapped.texts() == ["oneone"])
    #expect(try await wrapped.completion.byteCount == 6)
    #expect(try await wrapped.completion.trailers == ["X-Sum": "3"])
    #expect(completions.value.map(\.byteCount) == [3])
  }

  @Test func `a wait for the completion ends with the task, and the stream continues`() async throws {
    let stream = stream()
    let task = Task { try await stream.completion }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.cancelCount == 0)
    source.finish()
    #expect(try await stream.texts() == [])
  }

  @Test func `collecting more than the limit cancels the stream`() async throws {
    source.send("12345")
    let stream = stream()
    let error = await #expect(throws: NetworkError.self) { try await stream.collect(upTo: 4) }
    #expect(error?.code == .bodyTooLarge)
    #expect(source.cancelCount == 1)
    #expect((completions.value.first?.error as? NetworkError)?.code == .bodyTooLarge)
  }
}
