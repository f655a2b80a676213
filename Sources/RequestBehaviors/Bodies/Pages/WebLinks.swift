public import Foundation

/// The links of a response, in the order of its fields.
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

  /// Returns why no link of a relation can be followed; `nil` if there is no such link, or if one can be followed.
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

  /// The target of the first link of a relation; `nil` if there is no such link.
  ///
  /// The relation is compared regardless of case (RFC 8288 §2.1).
  public subscript(relation: String) -> URL? {
    let relation = relation.lowercased()
    return links.first { $0.relations.contains(relation) }?.url
  }
}
