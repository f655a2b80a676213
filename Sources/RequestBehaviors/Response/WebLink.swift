public import Foundation

/// A link that a server gave in the `Link` field of a response (RFC 8288).
public struct WebLink: Sendable, Hashable {
  /// Where the link leads, resolved against the URL of the response.
  public let url: URL

  /// How the target relates to the response, such as `next`, in lower case.
  public let relations: [String]

  /// The parameters in order, their names in lower case; `rel` is one of them.
  public let parameters: [Parameter]

  /// A parameter of a link.
  public struct Parameter: Sendable, Hashable {
    /// The name in lower case.
    public let name: String
    /// The value, without quotes.
    public let value: String
  }

  /// What the target is called; `nil` if the link does not say.
  ///
  /// That is the parameter `title*` decoded (RFC 8187), else `title`.
  public var title: String? {
    self["title*"].flatMap(WebLink.decodeExtended) ?? self["title"]
  }

  /// The value of the first parameter of a name, which is compared without regard to case.
  public subscript(parameter: String) -> String? {
    let name = parameter.lowercased()
    return parameters.first { $0.name == name }?.value
  }

  /// Decodes `UTF-8'en'%E2%82%AC%20rates`; `nil` for another character set.
  private static func decodeExtended(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
    return String(parts[2]).removingPercentEncoding
  }
}

/// The links of a response, in the order in which the server gave them.
///
/// ```swift
/// if let next = response.links["next"] {
///   print("there is more at \(next)")
/// }
/// ```
public struct WebLinks: Sendable, RandomAccessCollection {
  private let links: [WebLink]
  private let unusable: [LinkField.Unusable]

  init(_ links: [WebLink], unusable: [LinkField.Unusable] = []) { (self.links, self.unusable) = (links, unusable) }

  /// Why the first link of a relation cannot be followed; `nil` if there is none, or if one can.
  func problem(of relation: String) -> (any Error)? {
    guard self[relation] == nil else { return nil }
    let relation = relation.lowercased()
    return unusable.first { $0.relations.contains(relation) }?.error
  }

  /// The index of the first link.
  public var startIndex: Int { 0 }
  /// The index after the last link.
  public var endIndex: Int { links.count }
  /// The link at an index.
  public subscript(index: Int) -> WebLink { links[index] }

  /// Where the first link of a relation leads; `nil` if there is none.
  ///
  /// The relation is compared without regard to case (RFC 8288 §2.1).
  public subscript(relation: String) -> URL? {
    let relation = relation.lowercased()
    return links.first { $0.relations.contains(relation) }?.url
  }
}

extension NetworkResponse {
  /// The links that the server gave in `Link` fields (RFC 8288).
  ///
  /// Links that are about something else than the response, by an `anchor` that leads elsewhere, are left out (§3.2), and
  /// so are those without a relation or with a target that is no http or https URL.
  public var links: WebLinks {
    let fields = headers.values(for: "Link").map { LinkField.links(in: $0, of: request.url) }
    return WebLinks(fields.flatMap(\.links), unusable: fields.flatMap(\.unusable))
  }
}
