import RequestBehaviors
import TestSupport
import Testing

@MainActor
@Suite(.limited) struct SharedActivityTests {
  private let system = NotingSystem()

  private var activity: SharedActivity { SharedActivity(start: system.start) }

  @Test func `calls at once share one activity, which ends with the last of them`() {
    let activity = activity
    let first = activity.begin("GET a") {}
    let second = activity.begin("GET b") {}
    activity.end(first)
    #expect(system.started == ["GET a"])
    #expect(system.ended == 0)
    activity.end(second)
    activity.end(second)
    #expect(system.ended == 1)
    activity.end(activity.begin("GET c") {})
    #expect(system.started == ["GET a", "GET c"])
    #expect(system.ended == 2)
  }

  @Test func `when the background time expires every call is notified, and the activity ends when all have ended`() {
    let activity = activity
    var ids: [Int] = []
    let told = Box<[Int]>([])
    for number in 0..<3 { ids.append(activity.begin("GET a") { told.update { $0.append(number) } }) }
    activity.end(ids[1])
    system.expire(0)
    system.expire(0)
    #expect(told.value.sorted() == [0, 2])
    activity.end(ids[0])
    #expect(system.ended == 0)
    activity.end(ids[2])
    #expect(system.ended == 1)
  }

  @Test func `a call that begins after the expiry has its own activity`() {
    let activity = activity
    let first = activity.begin("GET a") {}
    system.expire(0)
    let second = activity.begin("GET b") {}
    #expect(system.started.count == 2)
    activity.end(first)
    #expect(system.ended == 1)
    activity.end(second)
    #expect(system.ended == 2)
  }

  @Test func `background time that expires at once is released`() {
    let told = Box(0)
    let activity = SharedActivity { [system] reason, expired in
      let finish = system.start(reason, expired)
      expired()
      return finish
    }
    let id = activity.begin("GET a") { told.update { $0 += 1 } }
    activity.end(id)
    #expect(told.value == 1)
    #expect(system.ended == 1)
  }

  @Test func `an expiry does not affect a released activity`() {
    var activity: SharedActivity? = activity
    _ = activity?.begin("GET a") {}
    activity = nil
    system.expire(0)
    #expect(system.started == ["GET a"])
  }
}

/// Begins activities, and takes note.
@MainActor
private final class NotingSystem {
  private(set) var started: [String] = []
  private(set) var ended = 0
  private var expirations: [SharedActivity.Expiration] = []

  nonisolated init() {}

  func start(_ reason: String, _ expired: @escaping SharedActivity.Expiration) -> @MainActor () -> Void {
    started.append(reason)
    expirations.append(expired)
    return { self.ended += 1 }
  }

  func expire(_ index: Int) { expirations[index]() }
}
