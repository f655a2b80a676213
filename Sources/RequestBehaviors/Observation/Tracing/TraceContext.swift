/// The identity of a request in a distributed trace (W3C Trace Context).
///
/// ```swift
/// let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
/// let incoming = TraceContext(traceparent: field)
/// let outgoing = incoming?.child() ?? TraceContext.root()
/// print(outgoing.traceparent)  // the same trace, a new parent id
/// ```
public struct TraceContext: Sendable, Hashable {
  // The ids are numbers, because every send makes one; they become text where they are shown or sent.
  private let traceHigh: UInt64
  private let traceLow: UInt64
  private let parent: UInt64

  /// The id of the trace: 16 bytes as 32 lower-case hexadecimal digits, not all zero.
  public var traceID: String {
    String(unsafeUninitializedCapacity: 32) { buffer in
      TraceContext.write(traceHigh, to: buffer, at: 0)
      TraceContext.write(traceLow, to: buffer, at: 16)
      return 32
    }
  }

  /// The id of the caller in the trace: 8 bytes as 16 lower-case hexadecimal digits, not all zero.
  public var parentID: String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      TraceContext.write(parent, to: buffer, at: 0)
      return 16
    }
  }

  /// The eight flag bits; the lowest one means that the caller may have recorded the trace.
  public let flags: UInt8

  /// The entries of tracing systems, passed on unchanged; `nil` if the context has no entries or malformed ones.
  public let tracestate: String?

  /// Whether the caller may have recorded the trace.
  public var isSampled: Bool { flags & 1 == 1 }

  /// Creates a context from ids, or `nil` if an id is invalid; a malformed `tracestate` is dropped.
  ///
  /// - Parameters:
  ///   - traceID: 32 lower-case hexadecimal digits, not all zero.
  ///   - parentID: 16 lower-case hexadecimal digits, not all zero.
  ///   - flags: The flags; by default sampled.
  ///   - tracestate: The list of vendor entries.
  public init?(traceID: String, parentID: String, flags: UInt8 = 1, tracestate: String? = nil) {
    guard let trace = TraceContext.numbers(traceID, 2), let parent = TraceContext.numbers(parentID, 1) else {
      return nil
    }
    self.init(
      trace: (trace[0], trace[1]), parent: parent[0], flags: flags,
      tracestate: tracestate.flatMap { TraceState($0)?.description })
  }

  /// Creates the context of numbers from a random source.
  init(trace: (high: UInt64, low: UInt64), parent: UInt64, isSampled: Bool) {
    self.init(
      trace: (trace.high, max(1, trace.low)), parent: max(1, parent), flags: isSampled ? 1 : 0, tracestate: nil)
  }

  /// Creates the context of an incoming request, or `nil` if `traceparent` is malformed (W3C Trace Context §3.2).
  ///
  /// - Parameters:
  ///   - traceparent: The value of the field `traceparent`, of version 00; of a later version, the known part is read.
  ///   - tracestate: The value of the field `tracestate`; several values are joined by commas.
  public init?(traceparent: String, tracestate: String? = nil) {
    let bytes = Array(traceparent.utf8)
    guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }) else { return nil }
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    guard let version = TraceContext.byte(text(0..<2)), version != 0xFF, let flags = TraceContext.byte(text(53..<55))
    else {
      return nil
    }
    // Version 00 ends here; a later version may continue after another dash.
    guard bytes.count == 55 || (version > 0 && bytes[55] == UInt8(ascii: "-")) else { return nil }
    self.init(traceID: text(3..<35), parentID: text(36..<52), flags: flags, tracestate: tracestate)
  }

  /// The value of the field `traceparent`, of version 00.
  public var traceparent: String {
    String(unsafeUninitializedCapacity: 55) { buffer in
      // The version, the ids and the flags, with dashes between them.
      buffer.initialize(repeating: UInt8(ascii: "0"))
      for dash in [2, 35, 52] { buffer[dash] = UInt8(ascii: "-") }
      TraceContext.write(traceHigh, to: buffer, at: 3)
      TraceContext.write(traceLow, to: buffer, at: 19)
      TraceContext.write(parent, to: buffer, at: 36)
      buffer[54] += flags & 1
      return 55
    }
  }

  /// Returns the first context of a new trace.
  ///
  /// - Parameters:
  ///   - isSampled: Whether the trace should be recorded.
  ///   - random: The source of the ids.
  /// - Returns: A context with random ids.
  public static func root(
    isSampled: Bool = true, random: @Sendable () -> UInt64 = { TraceNumbers.next() }
  ) -> TraceContext {
    TraceContext(trace: (random(), random()), parent: random(), isSampled: isSampled)
  }

  /// Returns the context to send with a request made within this one: the same trace with a new parent id.
  ///
  /// - Parameter random: The source of the id.
  /// - Returns: A context whose parent id identifies the request.
  public func child(random: @Sendable () -> UInt64 = { TraceNumbers.next() }) -> TraceContext {
    child(parent: random())
  }

  /// Returns the context with another parent id.
  func child(parent: UInt64) -> TraceContext {
    TraceContext(trace: (traceHigh, traceLow), parent: max(1, parent), flags: flags, tracestate: tracestate)
  }

  // An id of all zeros is invalid, so a one replaces it, however improbable it is.
  private init(trace: (high: UInt64, low: UInt64), parent: UInt64, flags: UInt8, tracestate: String?) {
    (traceHigh, traceLow) = trace
    self.parent = parent
    self.flags = flags
    self.tracestate = tracestate
  }

  /// Writes the sixteen digits of a number.
  private static func write(_ number: UInt64, to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
    var rest = number
    var index = start + 16
    while index > start {
      index -= 1
      let digit = UInt8(rest & 15)
      buffer[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      rest >>= 4
    }
  }

  /// Returns the numbers of sixteen digits each that an id consists of; `nil` for an invalid one.
  private static func numbers(_ text: String, _ count: Int) -> [UInt64]? {
    let digits = text.utf8
    guard digits.count == 16 * count, digits.allSatisfy(\.isLowercaseHexadecimal) else { return nil }
    var numbers = [UInt64](repeating: 0, count: count)
    for (index, digit) in digits.enumerated() {
      let value = digit.isASCIIDigit ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
      numbers[index / 16] = numbers[index / 16] << 4 | UInt64(value)
    }
    return numbers.allSatisfy { $0 == 0 } ? nil : numbers
  }

  private static func byte(_ text: String) -> UInt8? {
    text.utf8.allSatisfy(\.isLowercaseHexadecimal) ? UInt8(text, radix: 16) : nil
  }
}

extension UInt8 {
  fileprivate var isLowercaseHexadecimal: Bool { isASCIIDigit || self &- 0x61 < 6 }
}
