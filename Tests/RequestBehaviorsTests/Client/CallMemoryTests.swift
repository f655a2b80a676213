import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct CallMemoryTests {
  private enum Count: CallKey { static let defaultValue = 0 }
  private enum Name: CallKey { static let defaultValue = "" }
  private enum Flag: CallKey { static let defaultValue = false }

  @Test func `a call remembers a value for each key`() {
    let call = Call()
    call[Count.self] = 7
    call[Name.self] = "seven"
    call[Flag.self] = true
    #expect(call[Count.self] == 7)
    #expect(call[Name.self] == "seven")
    #expect(call[Flag.self])
    call.update(Count.self) { $0 += 1 }
    call[Name.self] = "eight"
    #expect(call[Count.self] == 8)
    #expect(call[Name.self] == "eight")
    #expect(call[Flag.self])
  }

  @Test func `one call does not see the values of another`() {
    let call = Call()
    call[Count.self] = 7
    #expect(Call()[Count.self] == 0)
  }

  private final class Held: Sendable {}

  private enum Holding: CallKey {
    static let defaultValue: Held? = nil
    static let endsWithSend = true
  }

  @Test func `a value that is kept only for the send is released with it, though the response stays`() async throws {
    let weakly = Box<@Sendable () -> Held?>({ nil })
    let behavior = ClosureBehavior("holding", order: .caching) { request, next in
      let held = Held()
      request.call[Holding.self] = held
      weakly.value = { [weak held] in held }
      // A call of its own does not begin with it.
      let detached = next.detached()
      #expect(detached.call[Holding.self] == nil)
      detached.call[Holding.self] = Held()
      _ = try await detached(request)
      #expect(detached.call[Holding.self] == nil)
      return try await next(request)
    }
    let response: NetworkResponse = try await NetworkClient(ClosureTransport(), [behavior]).send(.get("x"))
    #expect(weakly.value() == nil)
    #expect(response.request.call[Holding.self] == nil)
  }
}
