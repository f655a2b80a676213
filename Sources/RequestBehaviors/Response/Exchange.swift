public import Foundation

/// One send of a call: what was asked, and how it ended.
public struct Exchange: Sendable {
  /// How a send ended.
  public enum Outcome: Sendable {
    /// It is still under way.
    case pending
    /// A response with this status came.
    case response(statusCode: Int, bytes: Int?)
    /// It failed.
    case failure(any Error)
  }

  /// Which send of the call it was, from 1.
  public let number: Int
  /// The method.
  public let method: HTTPMethod
  /// The full URL.
  public let url: URL
  /// When the transport got it, on the call's clock.
  public let startedAt: Duration
  /// When it ended; `nil` while it is under way.
  public internal(set) var endedAt: Duration?
  /// How it ended.
  public internal(set) var outcome: Outcome
}

extension Exchange: CustomStringConvertible {
  /// Number, method, URL and outcome, with secrets hidden.
  public var description: String {
    let ended =
      switch outcome {
      case .pending: "under way"
      case .response(let statusCode, _): "\(statusCode)"
      case .failure(let error): Redactor.standard.redact(text: "\(error)")
      }
    return "#\(number) \(method) \(Redactor.standard.redact(url)): \(ended)"
  }
}
