/// What the system said when a ``LoopbackServer`` could not be started.
public struct LoopbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system call that failed, such as `bind`.
  public let call: String
  /// The system's error number (`errno`).
  public let code: Int32
  /// What happened, and the remedy where there is one.
  public let description: String

  init(call: String, code: Int32, remedy: String = "") {
    self.call = call
    self.code = code
    description =
      "The loopback server could not be started: \(call) failed with \(LoopbackSocket.message(for: code)) (\(code))."
      + (remedy.isEmpty ? "" : " " + remedy)
  }
}
