/// Names as a tree of their bytes, from the last byte to the first.
///
/// The end of a name decides first whether the name is in the tree, so most lookups end after two or three bytes, and
/// none of them allocates.
struct NameTree: Sendable {
  /// The kind of a name.
  enum Mark: Sendable {
    /// The name also counts as the last words of a longer name.
    case ending
    /// The name counts only by itself.
    case whole
  }

  /// The node of which every other one is a descendant.
  static let root = 0

  /// For each node the sixteen nodes that half a byte leads to; 0, the root, is no descendant.
  private var table = [UInt32](repeating: 0, count: 16)
  private var marks: [Mark?] = [nil]

  /// Adds a name in the form in which it is looked up; it is not empty.
  mutating func insert(_ name: [UInt8], as mark: Mark) {
    var node = NameTree.root
    for byte in name.reversed() {
      for half in [byte >> 4, byte & 15] {
        let place = node << 4 | Int(half)
        if table[place] == 0 {
          table[place] = UInt32(marks.count)
          table.append(contentsOf: repeatElement(0, count: 16))
          marks.append(nil)
        }
        node = Int(table[place])
      }
    }
    marks[node] = mark
  }

  /// Returns the node that a byte leads to; the root if no name has these bytes at its end.
  func child(of node: Int, _ byte: UInt8) -> Int {
    let middle = Int(table[node << 4 | Int(byte >> 4)])
    return middle == NameTree.root ? middle : Int(table[middle << 4 | Int(byte & 15)])
  }

  /// Returns the kind of the name that the bytes on the way to a node are; `nil` if they are only the end of names.
  func mark(of node: Int) -> Mark? { marks[node] }
}
