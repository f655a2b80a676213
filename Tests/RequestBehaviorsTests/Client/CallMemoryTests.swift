import Foundation
import RequestBehaviors
import Testing

@Suite struct CallMemoryTests {
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
    #expect(call[Count.self] == 8 && call[Name.self] == "eight" && call[Flag.self])
  }

  @Test func `what one call remembers no other does`() {
    let call = Call()
    call[Count.self] = 7
    #expect(Call()[Count.self] == 0)
  }
}
