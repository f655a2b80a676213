import Foundation

/// The bytes of a form with files or streams, read one part after the other while the form is sent.
struct MultipartStream: AsyncSequence, Sendable {
  typealias Element = Data

  private let segments: [MultipartEncoding.Segment]
  private let reading = Reading()
  private let hold: Hold

  init(_ segments: [MultipartEncoding.Segment]) {
    self.segments = segments
    hold = Hold(segments)
  }

  /// The stream for a body; ending it ends the part that is being read, and the one-shot streams after it unless
  /// another call has them, too.
  var byteStream: ByteStream {
    ByteStream(self) { [reading, hold] in
      reading.cancel()
      hold.end()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(segments: segments[...], reading: reading) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var segments: ArraySlice<MultipartEncoding.Segment>
    fileprivate let reading: Reading
    private var part: Part?

    fileprivate init(segments: ArraySlice<MultipartEncoding.Segment>, reading: Reading) {
      self.segments = segments
      self.reading = reading
    }

    mutating func next() async throws -> Data? {
      while true {
        if let chunk = try await part?.next() { return chunk }
        part = nil
        switch segments.popFirst() {
        case nil: return nil
        case .data(let data)?: return data
        case .body(let body, let name, let length)?:
          // A part is opened only when its turn has come, so that at most one file is open.
          let stream = try Iterator.open(body)
          reading.begin(stream)
          part = Part(stream, name: name, length: length)
        }
      }
    }

    private static func open(_ body: RequestBody) throws -> ByteStream {
      switch body.content {
      case .data(let data): ByteStream(chunks: [data])
      case .file(let url): ByteStream(FileChunks(url))
      case .stream(let makeStream): makeStream()
      case .oneShot(let stream): try stream.take()
      }
    }
  }

  /// A part that is being read; it must have the length that the form's length includes.
  private struct Part {
    private var chunks: ByteStream.Iterator
    private let name: String
    private let length: Int64?
    private var count: Int64 = 0

    init(_ stream: ByteStream, name: String, length: Int64?) {
      chunks = stream.makeAsyncIterator()
      self.name = name
      self.length = length
    }

    mutating func next() async throws -> Data? {
      while let chunk = try await chunks.next() {
        count += Int64(chunk.count)
        if let length, count > length { throw wrongLength("more than") }
        if !chunk.isEmpty { return chunk }
      }
      if let length, count < length { throw wrongLength("\(count) of") }
      return nil
    }

    private func wrongLength(_ found: String) -> NetworkError {
      NetworkError(
        .bodyUnreadable,
        "the part \(name.debugDescription) of the form has \(found) the \(length ?? 0) bytes that it had when the "
          + "request was made; send a copy that does not change meanwhile")
    }
  }

  /// The one-shot streams among the parts, kept for this form: two calls may have the same form.
  private final class Hold: Sendable {
    private let streams: Locked<[OneShotStream]>

    init(_ segments: [MultipartEncoding.Segment]) {
      let streams = segments.compactMap { segment -> OneShotStream? in
        guard case .body(let body, _, _) = segment, case .oneShot(let stream) = body.content else { return nil }
        return stream
      }
      for stream in streams { stream.hold() }
      self.streams = Locked(streams)
    }

    /// Ends the streams that have not been read, unless others hold them.
    func end() { for stream in take() { stream.letGo() } }

    private func take() -> [OneShotStream] {
      streams.withLock { streams in
        defer { streams = [] }
        return streams
      }
    }

    // A form that was only made, or was read to its end, ends nothing.
    deinit { for stream in take() { stream.release() } }
  }

  /// The part that is being read, so that ending the form's stream can end it.
  fileprivate final class Reading: Sendable {
    private struct State {
      var stream: ByteStream?
      var isCancelled = false
    }

    private let state = Locked(State())

    func begin(_ stream: ByteStream) {
      let isCancelled = state.withLock { state in
        state.stream = stream
        return state.isCancelled
      }
      if isCancelled { stream.cancel() }
    }

    func cancel() {
      let stream = state.withLock { state in
        state.isCancelled = true
        return state.stream
      }
      stream?.cancel()
    }
  }
}
