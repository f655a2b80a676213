import Foundation
import RequestBehaviors

/// The latest removals of a store, for ``CacheStore/mark()``.
///
/// A response that was requested before its removal must not be stored after it.
///
/// A store keeps the value with its responses and changes both together, under one lock or in one transaction. It is
/// `Codable`, for stores that are shared or outlive the process. It remembers at least 1,000 removals. A response that
/// was requested before the oldest of them is not stored.
public struct CacheRemovals: Sendable {
  /// The least number of removals that are remembered.
  private static let limit = 1_000

  /// The number that means the removal of everything.
  private static let everything: Int64 = 0

  /// The number of removals before the first that is remembered.
  private var start: Int
  /// The hashes of the removed URLs and owners: the names of users are not kept.
  ///
  /// Where two names have the same hash, a removal of one refuses responses of the other, too.
  private var removed: [Int64] = []

  /// Creates a list without removals, for a store that is new.
  ///
  /// It begins at a random number, so that a mark of another store, or of one that was replaced, is out of range.
  public init() {
    var source = RandomSource()
    start = Int.random(in: 0..<1 << 40, using: &source)
  }

  /// A mark of the removals so far.
  public var mark: CacheMark { CacheMark(start + removed.count) }

  /// Records that the responses of a URL are removed.
  public mutating func note(url: String) { note(CacheRemovals.hash(url: url)) }

  /// Records that the responses of an owner are removed.
  public mutating func note(scope: String) { note(CacheRemovals.hash(scope: scope)) }

  /// Records that everything is removed.
  public mutating func noteAll() { note(CacheRemovals.everything) }

  private mutating func note(_ removal: Int64) {
    removed.append(removal)
    guard removed.count == 2 * CacheRemovals.limit else { return }
    start += CacheRemovals.limit
    removed.removeFirst(CacheRemovals.limit)
  }

  /// Whether a response may be stored.
  ///
  /// - Parameters:
  ///   - key: The key of the response.
  ///   - mark: The mark that was taken before its request was sent.
  /// - Returns: `false` if its URL, one of its owners or everything was removed since, or if the mark is too old to
  ///   tell.
  public func allow(_ key: CacheKey, since mark: CacheMark) -> Bool {
    guard (start...start + removed.count).contains(mark.number) else { return false }
    let since = removed[(mark.number - start)...]
    if since.isEmpty { return true }
    let own = [CacheRemovals.everything] + CacheRemovals.hashes(of: key)
    return !since.contains { own.contains($0) }
  }
}

extension CacheRemovals {
  /// Numbers for the URL and the owners of a key.
  package static func hashes(of key: CacheKey) -> [Int64] { [hash(url: key.url)] + key.scopes.map { hash(scope: $0) } }

  /// A number for a URL, the same in every process.
  package static func hash(url: String) -> Int64 { hash(url) }

  /// A number for an owner, the same in every process.
  package static func hash(scope: String) -> Int64 { hash("scope " + scope) }

  /// Returns the FNV-1a hash of a text, which does not change between processes.
  private static func hash(_ text: String) -> Int64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return Int64(bitPattern: hash)
  }
}

extension CacheRemovals: Codable {
  private enum CodingKeys: CodingKey {
    case start, removed
  }

  /// Encodes the removals, eight bytes for each.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(start, forKey: .start)
    try container.encode(removed.withUnsafeBytes { Data($0) }, forKey: .removed)
  }

  /// Decodes removals.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    start = try container.decode(Int.self, forKey: .start)
    let data = try container.decode(Data.self, forKey: .removed)
    guard data.count.isMultiple(of: 8), data.count < 2 * 8 * CacheRemovals.limit, (0..<1 << 62).contains(start) else {
      throw DecodingError.dataCorruptedError(
        forKey: .removed, in: container, debugDescription: "these are not removals")
    }
    removed = data.withUnsafeBytes { bytes in
      (0..<bytes.count / 8).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self) }
    }
  }
}
