public import Foundation
public import RequestBehaviors

/// The response of a simulated server.
///
/// ```swift
/// world.network.serve("shop.example") { request in
///   request.method == .get ? .json(#"{"open":true}"#) : .status(405)
/// }
/// ```
public struct SimulatedResponse: Sendable {
  /// The status code.
  public var statusCode: Int
  /// The header fields.
  public var headers: HeaderFields
  /// The body, in the chunks in which it arrives.
  public var chunks: [Data]
  /// How long the server takes, beside the network's own times.
  public var delay: Duration = .zero
  /// How long the server waits before each chunk but the first.
  public var pause: Duration = .zero

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - statusCode: The status code.
  ///   - headers: The header fields; none by default.
  ///   - chunks: The body, in the chunks in which it arrives; empty by default.
  public init(statusCode: Int, headers: HeaderFields = [:], chunks: [Data] = []) {
    self.statusCode = statusCode
    self.headers = headers
    self.chunks = chunks
  }

  /// A response with a text as its body.
  public static func status(_ code: Int, headers: HeaderFields = [:], text: String = "") -> SimulatedResponse {
    SimulatedResponse(statusCode: code, headers: headers, chunks: text.isEmpty ? [] : [Data(text.utf8)])
  }

  /// A response with JSON as its body.
  public static func json(_ text: String, status: Int = 200, headers: HeaderFields = [:]) -> SimulatedResponse {
    var fields = headers
    if !fields.contains("Content-Type") { fields[.contentType] = "application/json" }
    return .status(status, headers: fields, text: text)
  }

  /// A response whose body arrives in several chunks, with a wait before each but the first.
  public static func stream(_ chunks: [String], every pause: Duration, headers: HeaderFields = [:]) -> SimulatedResponse
  {
    var response = SimulatedResponse(statusCode: 200, headers: headers, chunks: chunks.map { Data($0.utf8) })
    response.pause = pause
    return response
  }

  /// The response after a time that the server takes.
  public func after(_ delay: Duration) -> SimulatedResponse {
    var response = self
    response.delay = delay
    return response
  }
}
