import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct RedactorNamesTests {
  private static let sensitive: Set<String> = ["password", "pass", "api_key", "key2", "PIN", "token", "id-token"]
  private let redactor = Redactor(sensitiveFields: sensitive)

  @Test(arguments: [
    ("password", true), ("Pass_Word", true), ("newPassword", true), ("NEWPassword", true), ("newpassword", false),
    ("password2", true), ("password_2", true), ("passwords", false), ("word", false), ("API-Key", true),
    ("shopApiKey", true), ("shopkey", false), ("key", true), ("monkey", false), ("monKey", true), ("pin", true),
    ("PINCode", false), ("mainPIN", true), ("spin", false), ("max_tokens", false), ("tokens", true),
    ("access_tokens", true), ("user[password]", true), ("", false), ("12", false), ("_", false), ("p", false),
  ])
  func `a name is sensitive if it or its last words are`(name: String, isSensitive: Bool) {
    #expect(redactor.isSensitive(field: name) == isSensitive)
  }

  @Test(arguments: ["contrase\u{F1}a", "contrasen\u{303}a"])
  func `a composed and a decomposed letter with an accent are the same name`(name: String) {
    let redactors = ["contrase\u{F1}a", "contrasen\u{303}a"].map { Redactor(sensitiveFields: [$0]) }
    #expect(redactors.map { $0.isSensitive(field: name) } == [true, true])
  }

  @Test(arguments: 1...20)
  func `random names are judged as a plain search of their words judges them`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let parts = [
      "pass", "word", "Pass", "Word", "PASS", "key", "Key", "api", "API", "pin", "_", "-", "2", "to", "ken", "x",
    ]
    for _ in 0..<500 {
      let name = (0..<Int.random(in: 1...5, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined()
      #expect(redactor.isSensitive(field: name) == Self.isSensitive(name), "\(name)")
    }
  }

  /// Looks for each word at which the rest of the name is a sensitive one.
  private static func isSensitive(_ name: String) -> Bool {
    func folded(_ text: some Sequence<Character>) -> String { text.filter(\.isLetter).map { $0.lowercased() }.joined() }
    let names = Set(sensitive.map { folded($0) })
    var characters = Array(name)
    while let last = characters.last, !last.isLetter { characters.removeLast() }
    let starts = characters.indices.filter { index in
      guard characters[index].isLetter || characters[index].isNumber else { return false }
      guard index > 0, characters[index - 1].isLetter || characters[index - 1].isNumber else { return true }
      let isLastCapital = index + 1 < characters.count && characters[index + 1].isLowercase
      return characters[index].isUppercase && (!characters[index - 1].isUppercase || isLastCapital)
    }
    return starts.contains { start in
      let word = characters[start...].filter { $0.isLetter || $0.isNumber }.map { $0.lowercased() }.joined()
      return names.contains(word)
    }
  }
}
