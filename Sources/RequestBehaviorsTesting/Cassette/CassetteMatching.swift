import Foundation
public import RequestBehaviors

/// The parts of a request that must be as recorded for an entry of a cassette to match.
///
/// By default these are method, URL and body. Order does not count among query items, members of JSON objects and
/// fields of forms, nor the boundary of multipart bodies. Parameters of OAuth 1.0a (`oauth_…`) are left out. Secrets on
/// both sides are hidden before they are compared, so a test needs no credentials.
public struct CassetteMatching: Sendable {
  var ignoresOrigin = false
  var repeatsLast = false
  var ignoredQueryNames: Set<String> = []
  var ignoredPointers: Set<String> = []
  var comparedFields: [String] = []
  /// Compares what the user takes from two bodies; `nil` if that is not possible for one of them.
  var bodyDifference: (@Sendable (_ now: NetworkRequest, _ recorded: NetworkRequest) -> BodyVerdict?)?

  /// Whether two bodies are the same to the user.
  enum BodyVerdict: Sendable {
    case same
    case different(String)
  }

  /// Method, URL and body.
  public static let standard = CassetteMatching()

  /// Returns rules that do not compare scheme, host and port, as for a server on another port each time.
  public func ignoringOrigin() -> CassetteMatching { changed { $0.ignoresOrigin = true } }

  /// Returns rules that do not compare query items of some names.
  public func ignoringQuery(_ names: String...) -> CassetteMatching {
    changed { $0.ignoredQueryNames.formUnion(names) }
  }

  /// Returns rules that do not compare some places in JSON bodies.
  ///
  /// - Parameter pointers: JSON pointers (RFC 6901) such as `/sentAt`; `*` matches any member or element.
  /// - Returns: The rules.
  public func ignoringBody(at pointers: String...) -> CassetteMatching {
    changed { $0.ignoredPointers.formUnion(pointers) }
  }

  /// Returns rules that also compare the values of header fields that are not secret.
  public func comparing(_ names: String...) -> CassetteMatching {
    changed { $0.comparedFields += names }
  }

  /// Returns rules that compare only one value of each body.
  ///
  /// ```swift
  /// let matching = CassetteMatching.standard
  ///   .body { try $0.json(GraphQuery.self).operation }
  /// ```
  ///
  /// Bodies from which the closure cannot take a value are compared as usual.
  ///
  /// - Parameter value: Returns the value. It gets the request with its secrets hidden, once for the request that is
  ///   sent and once for each recorded one.
  /// - Returns: The rules.
  public func body<Value: Equatable & Sendable>(
    _ value: @escaping @Sendable (NetworkRequest) throws -> Value
  ) -> CassetteMatching {
    changed { rules in
      rules.bodyDifference = { now, recorded in
        guard let now = try? value(now), let recorded = try? value(recorded) else { return nil }
        return now == recorded ? .same : .different("body: \(now) now, \(recorded) recorded")
      }
    }
  }

  /// Returns rules by which the last entry of a request is played again and again, for a client that polls.
  public func repeatingLast() -> CassetteMatching { changed { $0.repeatsLast = true } }

  private func changed(_ change: (inout CassetteMatching) -> Void) -> CassetteMatching {
    var copy = self
    change(&copy)
    return copy
  }
}
