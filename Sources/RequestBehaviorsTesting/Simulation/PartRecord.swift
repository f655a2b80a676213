/// The parts that take part, and those that were requested.
final class PartRecord {
  private let excluded: Set<String>
  private(set) var included: [String] = []
  private var known: Set<String> = []

  init(_ excluded: Set<String>) { self.excluded = excluded }

  func includes(_ part: String) -> Bool {
    guard !excluded.contains(part) else { return false }
    if known.insert(part).inserted { included.append(part) }
    return true
  }
}
