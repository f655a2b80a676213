import RequestBehaviors
import Testing

@Suite(.limited) struct WeakTableTests {
  private final class Thing: Sendable {}

  @Test func `an object stays the same while it is held`() {
    var table = WeakTable<Int, Thing>()
    let things = (0..<100).map { key in table.object(for: key) { Thing() } }
    for (key, thing) in things.enumerated() { #expect(table.object(for: key) { Thing() } === thing) }
    #expect(table.count == 100)
  }

  @Test func `entries without an object are removed before they are as many as the others`() {
    var table = WeakTable<Int, Thing>()
    let things = (0..<100).map { key in table.object(for: key) { Thing() } }
    for key in 100..<10_000 { _ = table.object(for: key) { Thing() } }
    #expect(table.count <= 2 * things.count)
    #expect(table.object(for: 0) { Thing() } === things[0])
  }
}
