/// A transport that is told of each call when it begins, before any behavior may let it wait.
package protocol CallNoting: Transport {
  /// Records what the transport must remember of the moment.
  func note(_ call: Call)
}
