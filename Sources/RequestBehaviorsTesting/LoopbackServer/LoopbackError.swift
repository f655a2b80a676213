/// An error of the system that prevents a ``LoopbackServer`` from starting.
public struct LoopbackError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system call that failed, such as `bind`.
  public let call: String
  /// The system's error number (`errno`).
  public let code: Int32
  /// The failure, and the remedy if there is one.
  public let description: String

  init(call: String, code: Int32, remedy: String = "") {
    self.call = call
    self.code = code
    description =
      "The loopback server could not be started: \(call) failed with \(LoopbackSocket.message(for: code)) (\(code))."
      + (remedy.isEmpty ? "" : " " + remedy)
  }
}
