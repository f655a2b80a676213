import Foundation

/// What the stream of a body was read into, for the sends that follow.
enum SpooledContent: Sendable {
  case memory(Data)
  case file(TemporaryFile)
}

extension NetworkRequest {
  /// What the stream of the body was read into; `nil` if it has not been read, or can be sent once only.
  ///
  /// The call remembers it until its `send` ends.
  var spooledContent: SpooledContent? {
    get { body?.identity.flatMap { call[SpooledContents.self][ObjectIdentifier($0)]?.content } }
    nonmutating set {
      guard let identity = body?.identity else { return }
      call.update(SpooledContents.self) { $0[ObjectIdentifier(identity)] = newValue.map { (identity, $0) } }
    }
  }
}

/// The contents by the identity of the body, which is kept so that no other has the same.
private enum SpooledContents: CallKey {
  static var defaultValue: [ObjectIdentifier: (identity: RequestBody.Identity, content: SpooledContent)] { [:] }
  static var endsWithSend: Bool { true }
}
