public import Foundation

/// One send of a call: its request, and how it ended.
///
/// It holds facts only, never a request, a response or an error. A call remembers its attempts, and such references
/// would keep the call and every body alive.
public struct Attempt: Sendable {
  /// How a send ended.
  public enum Outcome: Sendable {
    /// It is still under way.
    case pending
    /// A response with this status arrived.
    ///
    /// `bytes` is the length of its body; `nil` for a file, and for a stream that is still being read.
    case response(statusCode: Int, bytes: Int?)
    /// It failed.
    ///
    /// `code` is that of a ``NetworkError``, `nil` for an error of another type; `message` is redacted.
    case failure(code: NetworkError.Code?, message: String)
    /// The task that waited for the attempt was cancelled.
    case cancelled
  }

  /// The number of the send within the call, from 1.
  public let number: Int
  /// The method.
  public let method: RequestMethod
  /// The full URL.
  public let url: URL
  /// The time at which the transport received the request, on the call's clock.
  public let startedAt: Duration
  /// The time at which the attempt ended; `nil` while it is under way, and while a streamed body is read.
  public internal(set) var endedAt: Duration?
  /// Whether it carried an idempotency key; `false` for a method that is idempotent by itself.
  public internal(set) var hasIdempotencyKey = false
  /// How the attempt ended.
  public internal(set) var outcome: Outcome
  /// How far the attempt had come when it failed; `nil` if it did not fail, or if the transport did not tell.
  public internal(set) var progress: NetworkError.Progress?
  /// The times of its phases and the facts about its connection; `nil` until the head of the response has arrived.
  public internal(set) var timings: ResponseTimings?
  /// The secrets that the call knows, which the description hides.
  var secrets = CallSecrets()
}

extension Attempt.Outcome {
  static func response(_ response: NetworkResponse) -> Self {
    var bytes: Int?
    if case .data(let data) = response.body { bytes = data.count }
    return .response(statusCode: response.statusCode, bytes: bytes)
  }

  /// Creates the outcome of an attempt whose streamed body has ended.
  init(statusCode: Int, _ completion: BodyCompletion, redactor: Redactor) {
    if let error = completion.error {
      self.init(error, redactor: redactor)
    } else {
      self = .response(statusCode: statusCode, bytes: Int(clamping: completion.byteCount))
    }
  }

  /// Creates the outcome of a failure, with its text redacted.
  init(_ error: any Error, redactor: Redactor) {
    switch error {
    case is CancellationError: self = .cancelled
    case let error as NetworkError: self = .failure(code: error.code, message: error.summary(with: redactor))
    default: self = .failure(code: nil, message: redactor.redact(text: "\(error)"))
    }
  }
}

extension Attempt: CustomStringConvertible {
  /// Number, method, URL and outcome, with secrets hidden.
  public var description: String {
    let ended =
      switch outcome {
      case .pending: "under way"
      case .response(let statusCode, _): "\(statusCode)"
      case .failure(let code?, let message): "\(code): \(message)"
      case .failure(nil, let message): message
      case .cancelled: "cancelled"
      }
    let redactor = Redactor.standard.hiding(secrets.values(for: .standard))
    return "#\(number) \(method) \(redactor.redact(url)): \(redactor.knownSecrets.hide(in: ended))"
  }
}
