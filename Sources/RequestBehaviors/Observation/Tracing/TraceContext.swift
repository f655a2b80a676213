/// The identity of a request in a distributed trace (W3C Trace Context).
///
/// ```swift
/// let field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
/// let incoming = TraceContext(traceparent: field)
/// let outgoing = incoming?.child() ?? TraceContext.root()
/// print(outgoing.traceparent)  // the same trace, a new parent id
/// ```
public struct TraceContext: Sendable, Hashable {
  /// The id of the trace: 16 bytes as 32 lower-case hexadecimal digits, not all zero.
  public let traceID: String

  /// The id of the caller in the trace: 8 bytes as 16 lower-case hexadecimal digits, not all zero.
  public let parentID: String

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
    guard TraceContext.isID(traceID, digits: 32), TraceContext.isID(parentID, digits: 16) else { return nil }
    self.traceID = traceID
    self.parentID = parentID
    self.flags = flags
    self.tracestate = tracestate.flatMap { TraceState($0)?.description }
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
    let digits = String(flags & 1, radix: 16)
    return "00-\(traceID)-\(parentID)-0\(digits)"
  }

  /// Returns the first context of a new trace.
  ///
  /// - Parameters:
  ///   - isSampled: Whether the trace should be recorded.
  ///   - random: The source of the ids.
  /// - Returns: A context with random ids.
  public static func root(
    isSampled: Bool = true, random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) -> TraceContext {
    let trace = hexadecimal(random()) + hexadecimal(nonZero(random))
    return TraceContext(traceID: trace, parent: hexadecimal(nonZero(random)), flags: isSampled ? 1 : 0, state: nil)
  }

  /// Returns the context to send with a request made within this one: the same trace with a new parent id.
  ///
  /// - Parameter random: The source of the id.
  /// - Returns: A context whose parent id identifies the request.
  public func child(random: @Sendable () -> UInt64 = { .random(in: .min ... .max) }) -> TraceContext {
    let parent = TraceContext.hexadecimal(TraceContext.nonZero(random))
    return TraceContext(traceID: traceID, parent: parent, flags: flags, state: tracestate)
  }

  private init(traceID: String, parent: String, flags: UInt8, state: String?) {
    self.traceID = traceID
    self.parentID = parent
    self.flags = flags
    self.tracestate = state
  }

  /// Returns a random value other than zero, because an id of all zeros is invalid.
  ///
  /// A source that returns only zeros yields a one.
  private static func nonZero(_ random: () -> UInt64) -> UInt64 {
    let value = random()
    return value == 0 ? max(1, random()) : value
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isID(_ text: String, digits: Int) -> Bool {
    text.utf8.count == digits && text.utf8.allSatisfy(\.isLowercaseHexadecimal)
      && !text.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  private static func byte(_ text: String) -> UInt8? {
    text.utf8.allSatisfy(\.isLowercaseHexadecimal) ? UInt8(text, radix: 16) : nil
  }
}

extension UInt8 {
  fileprivate var isLowercaseHexadecimal: Bool { isASCIIDigit || self &- 0x61 < 6 }
}
