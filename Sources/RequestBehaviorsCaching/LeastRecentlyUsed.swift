import RequestBehaviors

/// A list of elements in the order of their last use.
///
/// Adding, using and removing an element take constant time.
struct LeastRecentlyUsed<Element: Sendable>: Sendable {
  private struct Slot: Sendable {
    /// `nil` in a free slot.
    var element: Element?
    var newer: Int?
    var older: Int?
    /// The number of its last use.
    var lastUse = 0
  }

  // Elements are linked by their positions: a chain of references would be released recursively.
  private var slots: [Slot] = []
  private var free: [Int] = []
  private var newest: Int?
  private var useCount = 0

  /// The position of the element that was not used for the longest time; `nil` if the list is empty.
  private(set) var oldest: Int?

  /// How many elements there are.
  var count: Int { slots.count - free.count }

  /// The element at a position; `nil` if it was removed.
  subscript(position: Int) -> Element? {
    get { slots[position].element }
    set { slots[position].element = newValue }
  }

  /// Adds an element as the latest used.
  ///
  /// - Returns: Its position, which does not change until the element is removed.
  mutating func insert(_ element: Element) -> Int {
    let position: Int
    if let reused = free.popLast() {
      position = reused
      slots[position].element = element
    } else {
      position = slots.count
      slots.append(Slot(element: element))
    }
    link(position)
    return position
  }

  /// Makes an element the latest used.
  mutating func use(_ position: Int) {
    guard newest != position else { return }
    unlink(position)
    link(position)
  }

  /// Removes an element.
  mutating func remove(_ position: Int) {
    unlink(position)
    slots[position].element = nil
    free.append(position)
  }

  /// Returns the position, of the given ones, whose element was not used for the longest time.
  func leastRecentlyUsed(of positions: [Int]) -> Int? {
    positions.min { slots[$0].lastUse < slots[$1].lastUse }
  }

  /// Calls a closure with the elements, the latest used first, until it returns false.
  func visit(_ body: (Element) -> Bool) {
    var next = newest
    while let position = next {
      if let element = slots[position].element, !body(element) { return }
      next = slots[position].older
    }
  }

  private mutating func link(_ position: Int) {
    useCount += 1
    slots[position].lastUse = useCount
    slots[position].newer = nil
    slots[position].older = newest
    if let newest { slots[newest].newer = position }
    newest = position
    if oldest == nil { oldest = position }
  }

  private mutating func unlink(_ position: Int) {
    let slot = slots[position]
    if let newer = slot.newer { slots[newer].older = slot.older } else { newest = slot.older }
    if let older = slot.older { slots[older].newer = slot.newer } else { oldest = slot.newer }
  }
}
