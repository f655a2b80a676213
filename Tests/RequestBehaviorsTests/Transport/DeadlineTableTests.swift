import RequestBehaviors
import Testing

@Suite(.limited) struct DeadlineTableTests {
  @Test func `the idle deadline moves with every byte, the total one does not`() {
    var table = DeadlineTable<String>()
    #expect(table.insert("a", idle: .seconds(60), total: .seconds(100), at: .seconds(5)) == .seconds(65))
    table.touch("a", at: .seconds(50))
    #expect(table.earliest == .seconds(105))
    #expect(table.expired(at: .seconds(104)) == [:])
    #expect(table.expired(at: .seconds(105)) == ["a": .total(.seconds(100))])
  }

  @Test func `a deadline expires only when it is due, and the first one due is returned`() {
    var table = DeadlineTable<String>()
    table.insert("idle", idle: .seconds(3), total: nil, at: .zero)
    table.insert("total", idle: nil, total: .seconds(2), at: .seconds(2))
    table.insert("never", idle: nil, total: nil, at: .zero)
    #expect(table.earliest == .seconds(3))
    #expect(table.expired(at: .seconds(3)) == ["idle": .idle(.seconds(3))])
    #expect(table.expired(at: .seconds(4)) == ["idle": .idle(.seconds(3)), "total": .total(.seconds(2))])
    #expect(Set(table.ids) == ["idle", "total", "never"])
    table.remove("idle")
    table.remove("total")
    #expect(table.earliest == nil)
    #expect(table.ids == ["never"])
  }

  @Test func `durations beyond any use are counted without overflow`() {
    var table = DeadlineTable<Int>()
    let eternity = Duration.seconds(Int64.max)
    #expect(table.insert(1, idle: eternity, total: eternity, at: eternity) == eternity + eternity)
    #expect(table.expired(at: eternity).isEmpty)
  }

  @Test func `touching a missing entry has no effect`() {
    var table = DeadlineTable<Int>()
    table.touch(1, at: .seconds(1))
    #expect(table.ids.isEmpty)
    #expect(table.earliest == nil)
  }
}
