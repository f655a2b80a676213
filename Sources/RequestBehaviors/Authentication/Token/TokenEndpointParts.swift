package import Foundation

/// The parts of a token endpoint that another module adds: how the client authenticates, and proofs of a key.
package struct TokenEndpointParts: Sendable {
  /// Adds the client's authentication to the fields of a form or to the headers, which go to the origins only.
  package typealias Authenticate =
    @Sendable (_ fields: inout Query, _ headers: inout HeaderFields, _ origins: OriginScope, _ date: Date)
    async throws -> Void

  /// Adds the client's authentication to a request.
  package let authenticate: Authenticate
  /// Returns the behaviors of a second request, if a refusal asks for one, such as with a nonce that came with it.
  package let behaviorsToRepeat: @Sendable (_ response: NetworkResponse) -> [any RequestBehavior]?
  /// The behaviors of each request.
  package let behaviors: [any RequestBehavior]
  /// The types of token that may come, in lower case.
  package let tokenTypes: Set<String>
  /// The thumbprint of the key to which tokens are bound; `nil` if there is no such key.
  package let keyThumbprint: String?
  /// The server's other endpoints, as the module describes them.
  package let server: any Sendable

  /// Creates the parts.
  package init(
    behaviors: [any RequestBehavior], tokenTypes: Set<String>, keyThumbprint: String?, server: any Sendable,
    behaviorsToRepeat: @escaping @Sendable (_ response: NetworkResponse) -> [any RequestBehavior]?,
    authenticate: @escaping Authenticate
  ) {
    self.authenticate = authenticate
    self.behaviorsToRepeat = behaviorsToRepeat
    self.behaviors = behaviors
    self.tokenTypes = tokenTypes
    self.keyThumbprint = keyThumbprint
    self.server = server
  }
}
