#if canImport(CRequestBehaviorsCurl)
  /// Puts the head of a response together from the lines that arrive: interim heads come before it, trailers after
  /// it.
  package struct HeadCollector {
    /// What a line led to.
    package enum Step: Hashable {
      /// More lines follow.
      case more
      /// The head is complete: the line was the empty one after it.
      case isComplete
      /// The head must not be taken, and why.
      case refused(String)
    }

    private enum Place { case status, fields, trailers }

    /// The most bytes of all heads and trailers of a response, far more than servers send.
    package static let maximumCount = 256 * 1_024
    /// The most lines of them.
    package static let maximumLineCount = 1_000

    /// The status line and the fields, without the empty line.
    package private(set) var head: [UInt8] = []
    /// The interim heads before it, each like ``head``.
    package private(set) var interimHeads: [[UInt8]] = []
    /// The value of `Content-Encoding` in lower case; empty if there is none.
    package private(set) var encoding = ""
    /// The fields after the body.
    package private(set) var trailers: [UInt8] = []
    private var place = Place.status
    private var count = 0
    private var lineCount = 0

    /// Creates an empty collector with room for a usual head.
    package init() { head.reserveCapacity(1_024) }

    /// Whether the head is complete.
    package var isComplete: Bool { place == .trailers }

    /// Forgets everything, and keeps the memory for a further head.
    package mutating func reset() {
      head.removeAll(keepingCapacity: true)
      if !interimHeads.isEmpty { interimHeads = [] }
      if !trailers.isEmpty { trailers = [] }
      if !encoding.isEmpty { encoding = "" }
      place = .status
      (count, lineCount) = (0, 0)
    }

    /// Takes a line with its end.
    package mutating func add(_ line: UnsafeRawBufferPointer) -> Step {
      count += line.count
      lineCount += 1
      guard count <= HeadCollector.maximumCount else {
        return .refused("its header is longer than \(HeadCollector.maximumCount) bytes")
      }
      guard lineCount <= HeadCollector.maximumLineCount else {
        return .refused("its header has more than \(HeadCollector.maximumLineCount) lines")
      }
      switch place {
      case .status:
        guard line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2F]) else { return .refused("it has no status line") }
        head.removeAll(keepingCapacity: true)
        if !encoding.isEmpty { encoding = "" }
        head.append(contentsOf: line)
        place = .fields
      case .fields:
        guard HeadCollector.isEmpty(line) else {
          head.append(contentsOf: line)
          noteEncoding(line)
          return .more
        }
        return endHead()
      case .trailers:
        if !HeadCollector.isEmpty(line) { trailers.append(contentsOf: line) }
      }
      return .more
    }

    /// Tells interim heads from the one that counts (RFC 9110 §15.2).
    private mutating func endHead() -> Step {
      guard let status = head.withUnsafeBytes({ ResponseHead.status(of: $0) }) else {
        return .refused("its status line is none")
      }
      if status == 101 { return .refused("it switches to another protocol, which was not asked for") }
      guard status < 200 else {
        place = .trailers
        return .isComplete
      }
      interimHeads.append(head)
      place = .status
      return .more
    }

    /// Reads `Content-Encoding`, which decides about the body before anybody reads the other fields.
    private mutating func noteEncoding(_ line: UnsafeRawBufferPointer) {
      // The letter and the dash tell nearly all others apart.
      guard line.count > 17, line[0] | 0x20 == 0x63, line[7] == 0x2D, line[8] | 0x20 == 0x65, line[16] == 0x3A else {
        return
      }
      let text = String(decoding: line, as: UTF8.self).lowercased()
      guard text.hasPrefix("content-encoding:") else { return }
      let value = text.dropFirst(17).filter { !$0.isWhitespace }
      // Several fields are one list (RFC 9110 §5.3).
      encoding += encoding.isEmpty || value.isEmpty ? value : "," + value
    }

    private static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
      line.count == 2 ? line[0] == 0x0D && line[1] == 0x0A : line.count == 1 && line[0] == 0x0A
    }
  }
#endif
