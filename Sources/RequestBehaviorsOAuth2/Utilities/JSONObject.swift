import Foundation
import RequestBehaviors

/// The members of a JSON object, by their exact names; a member of another kind than asked for counts as missing.
struct JSONObject: Decodable, Sendable {
  private enum Value: Decodable, Sendable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case list([Value])
    case object([String: Value])
    case null
    /// A value that no Swift type holds, such as a number of 400 digits.
    case other

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let text = try? container.decode(String.self) {
        // First, because most members are texts, and each wrong guess makes an error.
        self = .text(text)
      } else if let flag = try? container.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let list = try? container.decode([Value].self) {
        self = .list(list)
      } else if let members = try? container.decode([String: Value].self) {
        self = .object(members)
      } else {
        // It must not make the other members unreadable.
        self = .other
      }
    }

    var asText: String? { if case .text(let text) = self { text } else { nil } }
  }

  private let members: [String: Value]

  /// Reads an object; `nil` if the bytes are not a JSON object.
  init?(_ data: Data) {
    guard let object = try? JSONDecoder().decode(JSONObject.self, from: data) else { return nil }
    self = object
  }

  /// Reads the body of a response; `nil` if it is not a JSON object, or a page for a person.
  init?(_ response: NetworkResponse) {
    guard !response.isHTML, case .data(let data) = response.body else { return nil }
    self.init(data)
  }

  init(from decoder: any Decoder) throws {
    members = try decoder.singleValueContainer().decode([String: Value].self)
  }

  private init(members: [String: Value]) { self.members = members }

  /// The names of the members.
  var names: [String] { members.keys.sorted() }

  /// Whether there is a member that is not `null`.
  func has(_ name: String) -> Bool {
    guard let value = members[name] else { return false }
    if case .null = value { return false }
    return true
  }

  func text(_ name: String) -> String? { members[name]?.asText }

  func flag(_ name: String) -> Bool { if case .flag(true)? = members[name] { true } else { false } }

  func number(_ name: String) -> Double? { if case .number(let number)? = members[name] { number } else { nil } }

  /// The texts of a list; `nil` if the member is no list of texts.
  func texts(_ name: String) -> [String]? {
    guard case .list(let list)? = members[name] else { return nil }
    let texts = list.compactMap(\.asText)
    return texts.count == list.count ? texts : nil
  }

  func object(_ name: String) -> JSONObject? {
    if case .object(let members)? = members[name] { JSONObject(members: members) } else { nil }
  }

  /// A text, number or truth value as text; a whole number has no decimals.
  func shown(_ name: String) -> String? {
    switch members[name] {
    case .text(let text)?: text
    case .number(let number)?: Int64(exactly: number).map { "\($0)" } ?? "\(number)"
    case .flag(let flag)?: "\(flag)"
    case .list?, .object?, .null?, .other?, nil: nil
    }
  }
}
