import Dispatch
import Foundation
import RequestBehaviors
import TestSupport
import Testing

/// The promises of "How a request travels".
@Suite(.limited) struct MainActorTests {
  /// Decodes only after the main actor has done something else; on the main actor it would wait in vain.
  private struct SlowDecoder: BodyDecoder {
    let contentTypes = ["application/json"]
    let mainActorRan = DispatchSemaphore(value: 0)

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
      Task { @MainActor in mainActorRan.signal() }
      // Far longer than any decoding: the limit is there so that a failure does not hang.
      guard mainActorRan.wait(timeout: .now() + 20) == .success else { throw Failure("the main actor was not free") }
      return try JSONDecoder().decode(type, from: data)
    }
  }

  private struct Thread: RequestBehavior {
    let wasMain: Box<[Bool]>

    func modify(_ request: inout NetworkRequest) async throws {
      MainActorTests.noteThread(in: wasMain)
    }

    func afterSuccess(_ response: NetworkResponse, for request: NetworkRequest) async throws {
      MainActorTests.noteThread(in: wasMain)
    }
  }

  // Asking for the thread is refused in asynchronous code, where it means little; here it is what is asked.
  private static func noteThread(in notes: Box<[Bool]>) {
    notes.update { $0.append(Foundation.Thread.isMainThread) }
  }

  @MainActor @Test func `promise 7: a call from the main actor leaves it free while its response is decoded`()
    async throws
  {
    let client = NetworkClient(ClosureTransport(200, "[1]")).with { $0.decoder = SlowDecoder() }
    let numbers: [Int] = try await client.send(.get("x"))
    #expect(numbers == [1])
    let response = try await client.response(for: .get("x").returning([Int].self))
    #expect(response.value == [1])
  }

  @MainActor @Test func `promise 7: no hook runs on the caller's actor`() async throws {
    let wasMain = Box<[Bool]>([])
    try await NetworkClient(ClosureTransport(), [Thread(wasMain: wasMain)]).send(.get("x"))
    #expect(wasMain.value == [false, false])
  }

  @MainActor private struct MainActorModel: @MainActor Decodable, Equatable {
    var name: String
  }

  private final class ClassModel: Decodable {
    let name: String
  }

  @MainActor @Test func `a model of the main actor and a class are decoded where the caller is`() async throws {
    let client = NetworkClient(ClosureTransport(200, #"{"name":"a"}"#))
    let model: MainActorModel = try await client.send(.get("x"))
    #expect(model == MainActorModel(name: "a"))
    let object: ClassModel = try await client.send(.get("x"))
    #expect(object.name == "a")
  }
}
