public import Foundation

/// A link in the `Link` field of a response (RFC 8288).
public struct WebLink: Sendable, Hashable {
  /// The target of the link, resolved against the URL of the response.
  public let url: URL

  /// The relations of the target to the response, such as `next`, in lower case.
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

  /// The title of the target; `nil` if the link has no title.
  ///
  /// It is the decoded parameter `title*` (RFC 8187), else `title`.
  public var title: String? {
    self["title*"].flatMap(WebLink.decodeExtended) ?? self["title"]
  }

  /// The value of the first parameter of a name, regardless of case.
  public subscript(parameter: String) -> String? {
    let name = parameter.lowercased()
    return parameters.first { $0.name == name }?.value
  }

  /// Decodes an extended value such as `UTF-8'en'%E2%82%AC%20rates`; returns `nil` for another character set.
  private static func decodeExtended(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
    return String(parts[2]).removingPercentEncoding
  }
}

extension NetworkResponse {
  /// The links in the `Link` fields of the response (RFC 8288).
  ///
  /// Links about another resource, by their `anchor`, are left out (§3.2). So are links without a relation, and links
  /// with a target that is not an http or https URL. At most 256 links are read.
  public var links: WebLinks {
    let (links, unusable) = LinkField.links(in: headers.values(for: "Link"), of: request.url)
    return WebLinks(links, unusable: unusable)
  }
}
