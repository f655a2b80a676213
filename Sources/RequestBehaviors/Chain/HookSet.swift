/// A set of behavior hooks that requests call.
struct HookSet: OptionSet, Sendable {
  let rawValue: UInt8

  static let scope = HookSet(rawValue: 1)
  static let headers = HookSet(rawValue: 2)
  static let modify = HookSet(rawValue: 4)
  static let beforeSend = HookSet(rawValue: 8)
  static let afterSuccess = HookSet(rawValue: 16)
  static let intercept = HookSet(rawValue: 32)
  static let afterFailure = HookSet(rawValue: 64)
  /// The hooks that get a request before it goes further in.
  static let ofRequest: HookSet = [.headers, .modify, .beforeSend]
  /// The hooks that a request without a failure calls.
  static let ofSuccess: HookSet = [.scope, .headers, .modify, .beforeSend, .afterSuccess, .intercept]
  static let all: HookSet = ofSuccess.union(.afterFailure)
}
