import Foundation
import RequestBehaviors
import TestSupport

/// A value of a JSON member that a test has made, so that it knows the value without reading it.
enum MemberValue: Hashable, Sendable {
  case text(String)
  /// A number by its digits.
  case number(String)
  case flag(Bool)
  case list([String])
  case object([String: MemberValue])
  case null

  var json: String {
    switch self {
    case .text(let text): MemberValue.quoted(text)
    case .number(let digits): digits
    case .flag(let flag): "\(flag)"
    case .list(let list): "[\(list.map(MemberValue.quoted).joined(separator: ","))]"
    case .object(let members): MemberValue.object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    case .null: "null"
    }
  }

  var asText: String? { if case .text(let text) = self { text } else { nil } }

  static func object(_ members: [(String, MemberValue)]) -> String {
    "{\(members.map { "\(quoted($0.0)):\($0.1.json)" }.joined(separator: ", "))}"
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case _ where scalar.value < 0x20: "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }

  /// Values of each kind, for members that should have another one.
  static let odd: [MemberValue] = [
    .null, .flag(true), .flag(false), .number("0"), .number("-1"), .number("7"), .number("1e400"), .number("-0.0"),
    .list([]), .list(["x"]), .object([:]), .object(["error": .text("invalid_grant")]), .text(""), .text(" "),
    .text("\u{0}"), .text("é"), .text("😀"), .text(String(repeating: "x", count: 3_000)),
  ]
}

/// A random response of a server, and the object in it as far as the test knows it.
struct RandomResponse: CustomStringConvertible, Sendable {
  var status: Int
  let type: String?
  let body: Data
  /// The members of the object in the body; `nil` if the body is not a JSON object.
  let members: [String: MemberValue]?
  /// Whether readers of JSON may differ about the body, such as about a bad escape in a member that they do not read.
  var isDoubtful = false
  /// Whether octets of the body were changed.
  var isFlipped = false

  var isPage: Bool { type?.lowercased().contains("html") ?? false }

  var description: String { "\(status) \(type ?? "untyped") \(String(decoding: body.prefix(400), as: UTF8.self))" }

  func response(to request: NetworkRequest) -> NetworkResponse {
    NetworkResponse(
      request: request, statusCode: status, headers: HeaderFields(type.map { [.init("Content-Type", $0)] } ?? []),
      body: .data(body))
  }

  private static let types: [String?] = [
    "application/json", "application/json", "application/json", "application/json", "application/json; charset=utf-8",
    "application/json;charset=UTF-8", "text/html", "TEXT/HTML; charset=utf-8", "text/plain",
    "application/x-www-form-urlencoded", nil,
  ]

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - choices: The members that it may have, each with values; a member is left out now and then.
  ///   - statuses: The statuses that are likely; others of 200 to 599 come too.
  ///   - random: The source of the choices.
  /// - Returns: The response.
  static func make(
    _ choices: [(String, [MemberValue])], _ statuses: [Int], using random: inout SeededGenerator
  ) -> RandomResponse {
    let status =
      Int.random(in: 0..<5, using: &random) == 0
      ? Int.random(in: 200...599, using: &random) : statuses.randomElement(using: &random) ?? 200
    let type = types.randomElement(using: &random) ?? nil
    var members: [(String, MemberValue)] = []
    for (name, values) in choices.shuffled(using: &random) where Int.random(in: 0..<8, using: &random) > 0 {
      let isOdd = Int.random(in: 0..<16, using: &random) == 0
      guard let value = (isOdd ? MemberValue.odd : values).randomElement(using: &random) else { continue }
      // Names have a case.
      let isCapital = Int.random(in: 0..<40, using: &random) == 0
      members.append((isCapital ? name.uppercased() : name, value))
    }
    if Bool.random(using: &random) { members.append(("x_\(members.count)", MemberValue.odd[6])) }
    members.removeAll { $0.1 == .number("1e400") && Bool.random(using: &random) }
    let text = MemberValue.object(members)
    let known = Dictionary(members) { first, _ in first }
    switch Int.random(in: 0..<16, using: &random) {
    case 0:
      let cut = text.utf8.count > 1 ? Int.random(in: 1..<text.utf8.count, using: &random) : 1
      return RandomResponse(status: status, type: type, body: Data(text.utf8.prefix(cut)), members: nil)
    case 1: return flipped(Data(text.utf8), status, type, using: &random)
    case 2:
      let others = [
        "", "[]", "null", "7", "\"invalid_grant\"", "<html>error: invalid_grant</html>", "error=invalid_grant",
        "[\(text)]", "\(text)}", "{\"error\":\"invalid_grant\"",
        "{\"error\":\"invalid_grant\"}}", String(repeating: "[", count: 20_000),
        String(repeating: "{\"error\":", count: 20_000), "access_token=A&token_type=bearer", "\u{FEFF}\u{FEFF}{}",
      ]
      let body = others.randomElement(using: &random) ?? ""
      return RandomResponse(status: status, type: type, body: Data(body.utf8), members: nil)
    default: return RandomResponse(status: status, type: type, body: Data(text.utf8), members: known)
    }
  }

  /// Changes octets; the object is then what another reader finds.
  private static func flipped(
    _ data: Data, _ status: Int, _ type: String?, using random: inout SeededGenerator
  ) -> RandomResponse {
    var octets = Array(data)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let index = Int.random(in: 0..<octets.count, using: &random)
      octets[index] = UInt8.random(in: 0...255, using: &random)
    }
    let object = try? JSONSerialization.jsonObject(with: Data(octets)) as? [String: Any]
    return RandomResponse(
      status: status, type: type, body: Data(octets), members: object?.mapValues(value), isDoubtful: object == nil,
      isFlipped: true)
  }

  private static func value(_ found: Any) -> MemberValue {
    switch found {
    case let text as String: .text(text)
    // A number converts to a truth value, and the other way round; the type of its octets tells.
    case let number as NSNumber where String(cString: number.objCType) == "c": .flag(number.boolValue)
    case let number as NSNumber: .number("\(number)")
    case let list as [String]: .list(list)
    case let object as [String: Any]: .object(object.mapValues(value))
    case is NSNull: .null
    default: .list([])
    }
  }
}

/// A transport that gives one response to every POST, until a test replaces it; it keeps no requests.
struct OneResponse: Transport {
  let response = Locked<RandomResponse?>(nil)

  func send(_ request: NetworkRequest) async throws -> NetworkResponse {
    guard request.method == .post, let response = response.withLock({ $0 }) else {
      return NetworkResponse(request: request, statusCode: 200)
    }
    return response.response(to: request)
  }

  func shutdown() async {}
}
