import Foundation

/// The contents of a body's stream, kept for further sends.
enum SpooledContent: Sendable {
  case memory(Data)
  case file(TemporaryFile, length: Int64)
}

extension NetworkRequest {
  /// The contents of the body's stream; `nil` if the stream has not been read, or can be sent only once.
  ///
  /// The call keeps them until its `send` ends.
  var spooledContent: SpooledContent? {
    get { body?.identity.flatMap { call[SpooledContents.self][ObjectIdentifier($0)]?.content } }
    nonmutating set {
      guard let identity = body?.identity else { return }
      call.update(SpooledContents.self) { $0[ObjectIdentifier(identity)] = newValue.map { (identity, $0) } }
    }
  }
}

/// The contents by the identity of the body.
///
/// The identity is retained so that no other body gets the same key.
private enum SpooledContents: CallKey {
  static var defaultValue: [ObjectIdentifier: (identity: RequestBody.Identity, content: SpooledContent)] { [:] }
  static var endsWithSend: Bool { true }
}
