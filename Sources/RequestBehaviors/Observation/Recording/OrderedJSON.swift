package import Foundation

/// A JSON value whose members keep their order, for files that are read and compared by people.
package enum OrderedJSON: Sendable, Hashable {
  case object([Member])
  case array([OrderedJSON])
  case string(String)
  /// A number as it is written.
  case number(String)
  case bool(Bool)
  case null

  /// A member of an object.
  package struct Member: Sendable, Hashable {
    package let name: String
    package var value: OrderedJSON

    package init(_ name: String, _ value: OrderedJSON) {
      self.name = name
      self.value = value
    }
  }

  /// Creates an object of the members that have a value.
  package static func members(_ members: KeyValuePairs<String, OrderedJSON?>) -> OrderedJSON {
    .object(members.compactMap { name, value in value.map { Member(name, $0) } })
  }

  package static func integer(_ value: some BinaryInteger) -> OrderedJSON { .number("\(value)") }

  /// A number with at most three decimals.
  package static func decimal(_ value: Double) -> OrderedJSON {
    let thousandths = (value * 1_000).rounded()
    guard thousandths.isFinite, abs(thousandths) < 1e15 else { return .number("0") }
    let (whole, rest) = Int64(thousandths).quotientAndRemainder(dividingBy: 1_000)
    if rest == 0 { return .number("\(whole)") }
    let digits = String(1_000 + rest.magnitude).dropFirst()
    let decimals = String(digits.reversed().drop { $0 == "0" }.reversed())
    return .number("\(thousandths < 0 && whole == 0 ? "-" : "")\(whole).\(decimals)")
  }

  /// A duration in milliseconds.
  package static func milliseconds(_ duration: Duration) -> OrderedJSON { .decimal(duration.inSeconds * 1_000) }
}

// MARK: - Reading

extension OrderedJSON {
  /// The value of an object's member; `nil` for no such member, and for another value than an object.
  package subscript(name: String) -> OrderedJSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// Returns an object with another value of a member that it has; `nil` leaves it as it is.
  package func with(_ name: String, _ value: OrderedJSON?) -> OrderedJSON {
    guard let value, case .object(var members) = self, let index = members.firstIndex(where: { $0.name == name }) else {
      return self
    }
    members[index].value = value
    return .object(members)
  }

  /// The elements of an array; empty for another value.
  package var elements: [OrderedJSON] { if case .array(let elements) = self { elements } else { [] } }

  package var text: String? { if case .string(let text) = self { text } else { nil } }

  package var double: Double? { if case .number(let number) = self { Double(number) } else { nil } }

  package var int: Int? {
    guard let double, abs(double) < 1e15 else { return nil }
    return Int(double)
  }

  package var isTrue: Bool { self == .bool(true) }

  /// The duration of a number of milliseconds.
  package var milliseconds: Duration? { double.map { .microseconds(Int64(($0 * 1_000).clamped.rounded())) } }
}

extension Double {
  /// The value, or the nearest one that an integer of 64 bits holds exactly; 0 for what is no number.
  fileprivate var clamped: Double { isNaN ? 0 : Swift.min(Swift.max(self, -9e15), 9e15) }
}

// MARK: - Writing

extension OrderedJSON {
  /// Returns the text of the value: two spaces a level, and a small object in an array on one line.
  package func data() -> Data {
    var output: [UInt8] = []
    write(to: &output, indentation: 0)
    output.append(UInt8(ascii: "\n"))
    return Data(output)
  }

  /// The text on one line.
  package var line: String {
    var output: [UInt8] = []
    writeLine(to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Whether the value is written on one line.
  private var isSmall: Bool {
    switch self {
    case .object(let members): members.count <= 4 && members.allSatisfy { $0.value.isScalar }
    case .array(let elements): elements.isEmpty || (elements.count <= 2 && elements.allSatisfy(\.isScalar))
    default: true
    }
  }

  private var isScalar: Bool {
    switch self {
    case .object(let members): members.isEmpty
    case .array(let elements): elements.isEmpty
    default: true
    }
  }

  private func write(to output: inout [UInt8], indentation: Int) {
    let inner = Array(repeating: UInt8(ascii: " "), count: indentation + 2)
    switch self {
    case _ where isSmall: writeLine(to: &output)
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        output += (index == 0 ? "\n" : ",\n").utf8
        output += inner
        JSONText.appendQuoted(member.name.utf8, to: &output)
        output += ": ".utf8
        member.value.write(to: &output, indentation: indentation + 2)
      }
      output += "\n".utf8 + inner.dropLast(2) + "}".utf8
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        output += (index == 0 ? "\n" : ",\n").utf8
        output += inner
        element.write(to: &output, indentation: indentation + 2)
      }
      output += "\n".utf8 + inner.dropLast(2) + "]".utf8
    default: writeLine(to: &output)
    }
  }

  private func writeLine(to output: inout [UInt8]) {
    switch self {
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        output += (index == 0 ? " " : ", ").utf8
        JSONText.appendQuoted(member.name.utf8, to: &output)
        output += ": ".utf8
        member.value.writeLine(to: &output)
      }
      output += (members.isEmpty ? "}" : " }").utf8
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output += ", ".utf8 }
        element.writeLine(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .string(let text): JSONText.appendQuoted(text.utf8, to: &output)
    case .number(let number): output += number.utf8
    case .bool(let bool): output += (bool ? "true" : "false").utf8
    case .null: output += "null".utf8
    }
  }
}
