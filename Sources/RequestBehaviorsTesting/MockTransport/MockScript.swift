import Foundation
import RequestBehaviors

/// The responses of a stub in order, and the position of the next one.
struct MockScript: Sendable {
  var isOptional = false
  private var answers: [MockResponse] = []
  private var position = 0
  // Modifiers that were set before the first response, and apply to it.
  private var draft: MockResponse?

  mutating func add(_ kind: MockResponse.Kind) {
    let draft = draft
    self.draft = nil
    answers.append(MockResponse(kind: kind, delay: draft?.delay ?? .zero, limit: draft?.limit))
  }

  mutating func modifyLast(_ change: (inout MockResponse) -> Void) {
    if answers.isEmpty {
      var answer = draft ?? MockResponse(kind: .failure(MockMismatch(reason: "")))
      change(&answer)
      draft = answer
    } else {
      change(&answers[answers.count - 1])
    }
  }

  mutating func next() -> Result<MockResponse, MockMismatch> {
    guard !answers.isEmpty else {
      return .failure(MockMismatch(reason: "it has no response; tell it to respond(…), stream(…) or fail(…)"))
    }
    while position < answers.count {
      if answers[position].given < limit(at: position) {
        answers[position].given += 1
        return .success(answers[position])
      }
      position += 1
    }
    return .failure(MockMismatch(reason: "it is used up, after \(count(answers.reduce(0) { $0 + $1.given }))"))
  }

  /// The message about responses that were not sent; `nil` if all were sent.
  var problem: String? {
    if isOptional { return nil }
    let wanted = answers.map { $0.limit ?? 1 }
    if answers.isEmpty || (!answers.contains { $0.given > 0 } && wanted.contains { $0 > 0 }) { return "never used" }
    for (index, answer) in answers.enumerated() where answer.given < wanted[index] {
      return "answer \(index + 1) was given \(times(answer.given)), not \(times(wanted[index]))"
    }
    return nil
  }

  private func limit(at index: Int) -> Int { answers[index].limit ?? (index == answers.count - 1 ? .max : 1) }

  private func count(_ number: Int) -> String { number == 1 ? "1 answer" : "\(number) answers" }

  private func times(_ number: Int) -> String { number == 1 ? "1 time" : "\(number) times" }
}
