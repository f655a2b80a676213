/// The entries of a cassette, and which of them requests have got.
struct CassetteEntries: Sendable {
  let all: [CassetteEntry]
  /// The indices of entries by the place of their requests, in order, and of those that no request has got.
  private let places: [String: [Int]]
  private var unusedByPlace: [String: [Int]]
  private(set) var used: Set<Int> = []
  /// The indices of the entries whose URL or body has a placeholder, in order.
  private let hidden: [Int]

  init(_ all: [CassetteEntry] = []) {
    self.all = all
    places = Dictionary(grouping: all.indices) { all[$0].sketch.place }
    unusedByPlace = places
    hidden = all.indices.filter { all[$0].hidesPartOfRequest }
  }

  /// The entries that no request has got.
  var unused: [CassetteEntry] { all.indices.filter { !used.contains($0) }.map { all[$0] } }

  /// The indices of the entries of a place, in order.
  func indices(of place: String) -> [Int] { places[place] ?? [] }

  /// The indices of the entries of a place that no request has got, in order.
  func unusedIndices(of place: String) -> [Int] { unusedByPlace[place] ?? [] }

  /// The indices of the entries whose URL or body has a placeholder, in order, and that no request has got.
  var unusedHidden: [Int] { hidden.filter { !used.contains($0) } }

  /// Gives an entry to a request; false if another one has got it.
  mutating func use(_ index: Int) -> Bool {
    guard used.insert(index).inserted else { return false }
    unusedByPlace[all[index].sketch.place]?.removeAll { $0 == index }
    return true
  }
}
