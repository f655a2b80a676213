import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct HeapTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the least element comes out first, whatever is added and removed`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (heap, model) = (Heap<Int>(), [Int]())
    for _ in 0..<500 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        heap.removeAll { $0.isMultiple(of: 3) }
        model.removeAll { $0.isMultiple(of: 3) }
      case 1..<8:
        let first = heap.removeFirst()
        #expect(first == model.min())
        if let index = model.firstIndex(where: { $0 == first }) { model.remove(at: index) }
      default:
        let element = Int.random(in: 0..<100, using: &random)
        heap.insert(element)
        model.append(element)
      }
      #expect(heap.first == model.min())
      #expect(heap.count == model.count)
    }
  }
}
