#if canImport(CRequestBehaviorsCurl)
  /// Collects the head of a response from its lines, with the interim heads before it and the trailers after it.
  package struct HeadCollector {
    /// The result of taking a line.
    package enum Step: Hashable {
      /// More lines follow.
      case more
      /// The line was the empty one that ends the head.
      case isComplete
      /// The head is refused, for this reason.
      case refused(String)
    }

    private enum Place { case status, fields, trailers }

    /// The maximum number of bytes of all heads and trailers of a response, far more than servers send.
    package static let maximumCount = 256 * 1_024
    /// The maximum number of lines of all heads and trailers.
    package static let maximumLineCount = 1_000

    /// The status line and the fields, without the empty line.
    package private(set) var head: [UInt8] = []
    /// The interim heads before it, each like ``head``.
    package private(set) var interimHeads: [[UInt8]] = []
    /// The end of the body, and its encoding.
    package private(set) var framing = BodyFraming()
    /// The status; 0 before there is one.
    package private(set) var status = 0
    /// The fields after the body.
    package private(set) var trailers: [UInt8] = []
    private var place = Place.status
    private var count = 0
    private var lineCount = 0
    /// Whether an interim head had a length.
    ///
    /// libcurl would apply it to a final response without one.
    private var hasInterimLength = false

    /// Creates an empty collector with room for a usual head.
    package init() { head.reserveCapacity(1_024) }

    /// Whether the last line ended an interim head of status 100, which permits sending the body (RFC 9110 §15.2.1).
    package private(set) var givesLeave = false
    /// Whether the head is complete.
    package var isComplete: Bool { place == .trailers }

    /// Clears all state, and keeps the memory for the next head.
    package mutating func reset() {
      head.removeAll(keepingCapacity: true)
      if !interimHeads.isEmpty { interimHeads = [] }
      if !trailers.isEmpty { trailers = [] }
      framing = BodyFraming()
      place = .status
      (status, count, lineCount) = (0, 0, 0)
      hasInterimLength = false
    }

    /// Takes a line, including its line ending.
    package mutating func add(_ line: UnsafeRawBufferPointer) -> Step {
      count += line.count
      lineCount += 1
      guard count <= HeadCollector.maximumCount else {
        return .refused("its header is longer than \(HeadCollector.maximumCount) bytes")
      }
      guard lineCount <= HeadCollector.maximumLineCount else {
        return .refused("its header has more than \(HeadCollector.maximumLineCount) lines")
      }
      givesLeave = false
      switch place {
      case .status:
        guard line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2F]) else { return .refused("it has no status line") }
        guard let number = ResponseHead.status(of: line) else { return .refused("its status line is invalid") }
        status = number
        head.removeAll(keepingCapacity: true)
        framing = BodyFraming()
        head.append(contentsOf: line)
        place = .fields
      case .fields:
        guard HeadCollector.isEmpty(line) else {
          // libcurl takes such a line for the end of the head.
          guard line.first != 0x0D else { return .refused("a line of its header begins with a carriage return") }
          head.append(contentsOf: line)
          framing.add(line)
          return .more
        }
        return endHead()
      case .trailers:
        if !HeadCollector.isEmpty(line) { trailers.append(contentsOf: line) }
      }
      return .more
    }

    /// Ends a head, and tells interim heads from the final one (RFC 9110 §15.2).
    private mutating func endHead() -> Step {
      if status == 101 { return .refused("it switches to another protocol, which was not asked for") }
      guard status < 200 else {
        if let objection = framing.objection(isHTTP10: hasVersion("HTTP/1.0")) { return .refused(objection) }
        if hasInterimLength, framing.end == .connection {
          return .refused("an interim response before it tells a length, and it tells none")
        }
        place = .trailers
        return .isComplete
      }
      // An interim response must have neither (RFC 9112 §6.1, RFC 9110 §8.6), and libcurl applies them to the final
      // response.
      if framing.isCoded { return .refused("an interim response before it has Transfer-Encoding") }
      if framing.hasLength || framing.objection(isHTTP10: false) != nil { hasInterimLength = true }
      givesLeave = status == 100
      interimHeads.append(head)
      place = .status
      return .more
    }

    /// Whether the response came over HTTP/2.
    package var isOfHTTP2: Bool { hasVersion("HTTP/2") }

    private func hasVersion(_ version: StaticString) -> Bool {
      head.starts(with: UnsafeBufferPointer(start: version.utf8Start, count: version.utf8CodeUnitCount))
    }

    /// Returns whether the body ends with its connection.
    ///
    /// A lost connection then looks like the end of the body.
    ///
    /// - Parameter isHead: Whether the request was `HEAD`, to which no response has a body (RFC 9112 §6.3).
    /// - Returns: Whether it does; false over HTTP/2, where a body has an end of its own.
    package func endsWithConnection(isHead: Bool) -> Bool {
      expectedEnd(isHead: isHead) == .connection && hasVersion("HTTP/1.")
    }

    /// Returns what ends the body; `nil` for a response that must have no body, whatever its fields say.
    package func expectedEnd(isHead: Bool) -> BodyFraming.End? {
      isHead || status == 204 || status == 304 ? nil : framing.end
    }

    private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
      line.count == 2 ? line[0] == 0x0D && line[1] == 0x0A : line.count == 1 && line[0] == 0x0A
    }
  }
#endif
