package import Foundation

// The parts of a request that a queue keeps in a file, and puts together again.

extension Request {
  /// The path below the base URL; `nil` for a full URL.
  package var pathBelowBase: RequestPath? {
    guard case .path(let path) = target, !path.isAbsolute else { return nil }
    return path
  }

  /// Whether behaviors of the configuration are left out.
  package var removesBehaviors: Bool { !removedBehaviors.isEmpty }
}

extension RequestPath {
  /// The percent-encoded text.
  package var text: String { encoded }

  /// The fault with which sending fails; `nil` for a valid path.
  package var fault: String? { problem }

  /// Creates a path from its stored text and template.
  package init(text: String, template: String) {
    self.init(text: text, template: template, problem: nil, isAbsolute: false)
  }
}

extension RequestContent {
  /// Returns the bytes and their type; `nil` for a file, a stream and a multipart body.
  package func bytes(with encoder: any BodyEncoder) throws -> (data: Data, contentType: String?)? {
    let body = try makeBody(with: encoder)
    guard let data = body.data, body.contentType?.hasPrefix("multipart/") != true else { return nil }
    return (data, body.contentType)
  }
}

extension IdempotencyKey {
  /// The key that the caller gave; `nil` for one that is generated, and for an empty one.
  package var givenValue: String? { if case .value(let value) = source, !value.isEmpty { value } else { nil } }
}
