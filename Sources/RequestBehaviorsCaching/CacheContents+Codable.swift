import Foundation

extension CacheContents: Codable {
  private enum CodingKeys: CodingKey {
    case capacity, digestKey, removals, responses
  }

  /// Encodes everything, including the order of the last uses.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(capacity, forKey: .capacity)
    try container.encode(digestKey, forKey: .digestKey)
    try container.encode(removals, forKey: .removals)
    var responses: [Node] = []
    nodes.visit { node in
      responses.append(node)
      return true
    }
    try container.encode(responses, forKey: .responses)
  }

  /// Decodes contents; the least recently used responses beyond the capacity are left out.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    capacity = try container.decode(Int.self, forKey: .capacity)
    digestKey = try container.decode(Data.self, forKey: .digestKey)
    removals = try container.decode(CacheRemovals.self, forKey: .removals)
    for node in try container.decode([Node].self, forKey: .responses).reversed() { insert(node) }
    evict()
  }
}
