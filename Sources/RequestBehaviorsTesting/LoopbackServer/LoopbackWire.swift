import Foundation
import RequestBehaviors

/// The bytes of a response to a certain request, as they go over the wire.
struct LoopbackWire {
  /// Small bodies are joined with the head, so that a response is one write.
  private static let joinLimit = 32 * 1_024

  private(set) var head: [UInt8]
  private(set) var body = Data()
  private(set) var repeats = 1
  private var pieces: LoopbackPieces?
  /// The number of bytes in the head.
  private(set) var headCount = 0
  /// Whether the connection ends after the response.
  private(set) var closes: Bool

  var bodyCount: Int { count - headCount }
  var count: Int { head.count + body.count * repeats + (pieces.map { $0.count * $0.length } ?? 0) + tail.count }
  /// The bytes after a generated body.
  private var tail: [UInt8] = []

  init(_ response: LoopbackResponse, to request: LoopbackHead) {
    self.init(response, isHead: request.isHead, isHTTP11: request.isHTTP11, keepsAlive: request.keepsAlive)
  }

  init(_ response: LoopbackResponse, isHead: Bool, isHTTP11: Bool, keepsAlive: Bool) {
    head = []
    closes = !keepsAlive
    if case .raw(let closesAfter) = response.framing {
      (body, closes) = (response.body, closesAfter)
      return
    }
    head.reserveCapacity(256 + (response.body.count <= LoopbackWire.joinLimit ? response.body.count : 0))
    appendStatusLine(response)
    for field in response.headers { append(field.name, field.value) }
    frame(response, isHTTP11: isHTTP11)
    // RFC 9110 §6.4.1: a response to HEAD has no body, and neither has one with these statuses.
    if isHead || LoopbackWire.hasNoBody(response.status) {
      (body, pieces, tail) = (Data(), nil, [])
      if !response.asksToClose, !isCloseDelimited(response) { closes = !keepsAlive }
    }
    if closes, !response.headers.contains("Connection") { append("Connection", "close") }
    if !closes, !isHTTP11, !response.headers.contains("Connection") { append("Connection", "keep-alive") }
    head += [0x0D, 0x0A]
    headCount = head.count
    join()
  }

  private static func hasNoBody(_ status: Int) -> Bool {
    status == 204 || status == 304 || (100..<200).contains(status)
  }

  private func isCloseDelimited(_ response: LoopbackResponse) -> Bool {
    if case .closeDelimited = response.framing { true } else { false }
  }

  private mutating func appendStatusLine(_ response: LoopbackResponse) {
    head += "HTTP/1.1 ".utf8
    head += String(response.status).utf8
    head.append(0x20)
    head += response.reason.utf8
    head += [0x0D, 0x0A]
  }

  private mutating func append(_ name: String, _ value: String) {
    head += name.utf8
    head += [0x3A, 0x20]
    head += value.utf8
    head += [0x0D, 0x0A]
  }

  private mutating func frame(_ response: LoopbackResponse, isHTTP11: Bool) {
    if response.asksToClose { closes = true }
    switch response.framing {
    // A body without a length or chunks ends with the connection, and so does one that HTTP/1.0 cannot frame.
    case .contentLength: frameByLength(response)
    case .chunked(let chunks, let trailers, let badSize):
      if isHTTP11 {
        if !response.headers.contains("Transfer-Encoding") { append("Transfer-Encoding", "chunked") }
        body = LoopbackWire.chunkedBody(chunks, trailers: trailers, badSize: badSize)
        if badSize != nil { closes = true }
      } else {
        body = chunks.reduce(into: Data()) { $0 += $1 }
        closes = true
      }
    case .generated(let pieces, let isChunked): frame(pieces, isChunked: isChunked, response, isHTTP11: isHTTP11)
    case .closeDelimited, .raw:
      body = response.body
      closes = true
    }
  }

  private mutating func frame(
    _ pieces: LoopbackPieces, isChunked: Bool, _ response: LoopbackResponse, isHTTP11: Bool
  ) {
    self.pieces = pieces
    if isChunked, isHTTP11 {
      if !response.headers.contains("Transfer-Encoding") { append("Transfer-Encoding", "chunked") }
      self.pieces = pieces.chunked
      tail = Array("0\r\n\r\n".utf8)
    } else if isChunked {
      closes = true
    } else if let own = response.headers[.contentLength] {
      if own != String(pieces.count * pieces.length) { closes = true }
    } else {
      append("Content-Length", String(pieces.count * pieces.length))
    }
  }

  private mutating func frameByLength(_ response: LoopbackResponse) {
    (body, repeats) = (response.body, response.repeats)
    let length = body.count * repeats
    if response.headers.contains("Transfer-Encoding") {
      closes = true
    } else if let own = response.headers[.contentLength] {
      if own != String(length) { closes = true }
    } else if !LoopbackWire.hasNoBody(response.status) {
      append("Content-Length", String(length))
    }
  }

  private static func chunkedBody(_ chunks: [Data], trailers: HeaderFields, badSize: String?) -> Data {
    var body = Data()
    for chunk in chunks where !chunk.isEmpty {
      body += Data("\(String(chunk.count, radix: 16))\r\n".utf8)
      body += chunk
      body += Data("\r\n".utf8)
    }
    if let badSize { return body + Data("\(badSize)\r\n".utf8) }
    body += Data("0\r\n".utf8)
    for field in trailers { body += Data("\(field.name): \(field.value)\r\n".utf8) }
    return body + Data("\r\n".utf8)
  }

  private mutating func join() {
    guard repeats == 1, pieces == nil, body.count <= LoopbackWire.joinLimit else { return }
    head += body
    body = Data()
  }

  /// Passes the bytes of a range of the response, piece by piece, to a closure until it returns false.
  func forEachPiece(in range: Range<Int>, _ send: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    let inHead = range.clamped(to: 0..<head.count)
    if !inHead.isEmpty, !head.withUnsafeBytes({ send(UnsafeRawBufferPointer(rebasing: $0[inHead])) }) { return false }
    if let pieces { return forEachPiece(of: pieces, in: range, send) }
    var position = max(range.lowerBound, head.count) - head.count
    let end = range.upperBound - head.count
    while position < end {
      let offset = position % body.count
      let length = min(body.count - offset, end - position)
      let isSent = body.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + length)])) }
      if !isSent { return false }
      position += length
    }
    return true
  }
}

extension LoopbackWire {
  /// Passes the pieces of a generated body that lie in a range of the response to a closure.
  private func forEachPiece(
    of pieces: LoopbackPieces, in range: Range<Int>, _ send: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    let end = head.count + pieces.count * pieces.length
    var position = max(range.lowerBound, head.count)
    while position < min(range.upperBound, end) {
      // The pieces are made here, one at a time, so that a body of any length takes the memory of one piece.
      let (index, offset) = (position - head.count).quotientAndRemainder(dividingBy: pieces.length)
      let length = min(pieces.length - offset, range.upperBound - position)
      let piece = pieces.piece(index)
      guard piece.withUnsafeBytes({ send(UnsafeRawBufferPointer(rebasing: $0[offset..<(offset + length)])) }) else {
        return false
      }
      position += length
    }
    // The tail is the last chunk, whose size is 0.
    let inTail = range.clamped(to: end..<(end + tail.count))
    guard !inTail.isEmpty else { return true }
    return tail.withUnsafeBytes {
      send(UnsafeRawBufferPointer(rebasing: $0[(inTail.lowerBound - end)..<(inTail.upperBound - end)]))
    }
  }
}

/// The pieces of a body that is made while it is sent; all have the same length.
struct LoopbackPieces: Sendable {
  let count: Int
  let length: Int
  let make: @Sendable (Int) -> Data

  /// Returns a piece of exactly the length.
  func piece(_ index: Int) -> Data {
    let piece = make(index)
    if piece.count == length { return piece }
    return piece.count > length ? Data(piece.prefix(length)) : piece + Data(count: length - piece.count)
  }

  /// The pieces as chunks (RFC 9112 §7.1).
  var chunked: LoopbackPieces {
    let size = Data("\(String(length, radix: 16))\r\n".utf8)
    return LoopbackPieces(count: count, length: size.count + length + 2) { [self] index in
      size + piece(index) + Data("\r\n".utf8)
    }
  }
}

extension LoopbackResponse {
  /// Whether the response has its own `Connection: close`.
  fileprivate var asksToClose: Bool {
    !headers.isEmpty && headers.values(for: "Connection").contains { $0.lowercased() == "close" }
  }
}

/// The steps by which the server sends a response.
struct LoopbackPlan {
  enum Step {
    case send(Range<Int>)
    case perform(LoopbackResponse.Effect.Conduct)
  }

  private(set) var steps: [Step] = []
  private var position = 0

  init(_ response: LoopbackResponse, wire: LoopbackWire) {
    let placed = response.effects.enumerated().compactMap { index, effect -> (offset: Int, index: Int)? in
      effect.point.offset(head: wire.headCount, body: wire.bodyCount).map { ($0, index) }
    }
    for place in placed.sorted(by: { ($0.offset, $0.index) < ($1.offset, $1.index) }) {
      send(upTo: place.offset, response, wire)
      steps.append(.perform(response.effects[place.index].conduct))
    }
    send(upTo: wire.count, response, wire)
  }

  private mutating func send(upTo end: Int, _ response: LoopbackResponse, _ wire: LoopbackWire) {
    guard let throttle = response.throttle else { return send(upTo: end) }
    send(upTo: min(end, wire.headCount))
    while position < end {
      let piece = (position - wire.headCount) / throttle.bytes + 1
      send(upTo: min(end, wire.headCount + piece * throttle.bytes))
      let isWholePiece = (position - wire.headCount) % throttle.bytes == 0
      if isWholePiece, position < wire.count { steps.append(.perform(.delay(throttle.interval))) }
    }
  }

  private mutating func send(upTo end: Int) {
    guard end > position else { return }
    steps.append(.send(position..<end))
    position = end
  }
}
