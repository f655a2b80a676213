import Foundation
import TestSupport
import Testing

@testable import RequestBehaviors

/// Forms of random parts, read by two readers that share no code with the encoder.
///
/// The encoder is called itself because the boundary must come from a seed.
@Suite(.limited) struct MultipartPropertyTests {
  private struct Form {
    var expected: [ReadPart] = []
    var parts: [MultipartPart] = []
  }

  private func encode(_ form: Form, seed: UInt64) async throws -> (body: Data, contentType: String) {
    var generator = SeededGenerator(seed: seed)
    let encoding = try MultipartEncoding(form.parts, encoder: JSONEncoder(), using: &generator)
    let url = try #require(URL(string: "https://h/"))
    let body = try await NetworkRequest(.post, url: url, body: encoding.body).bodyData()
    #expect(encoding.length == Int64(body.count))
    return (body, encoding.contentType)
  }

  private func randomForm(_ generator: inout SeededGenerator) -> Form {
    var form = Form()
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let content = Data(randomContent(&generator))
      let name = randomName(&generator)
      let filename = Bool.random(using: &generator) ? randomName(&generator) : nil
      let type = Bool.random(using: &generator) ? "application/x-\(content.count)" : nil
      let body: RequestBody =
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: .data(content, contentType: type)
        case 1:
          .stream(contentType: type, length: Int64(content.count)) {
            ByteStream(chunks: [content.prefix(3), content.dropFirst(3)])
          }
        default: .oneShot(ByteStream(chunks: [content]), contentType: type, length: Int64(content.count))
        }
      form.parts.append(.part(name.typed, .body(body), filename: filename?.typed))
      var line = "Content-Disposition: form-data; name=\"\(name.escaped)\""
      if let filename { line += "; filename=\"\(filename.escaped)\"" }
      form.expected.append(ReadPart(head: [line] + (type.map { ["Content-Type: \($0)"] } ?? []), content: content))
    }
    return form
  }

  private func randomName(_ generator: inout SeededGenerator) -> (typed: String, escaped: String) {
    let letters = [
      ("a", "a"), ("\"", "%22"), ("\r", "%0D"), ("\n", "%0A"), ("é", "é"), ("文", "文"), (" ", " "), (";", ";"),
      ("\\", "\\"), ("%", "%"),
    ]
    // With something that is no space at both ends, which readers of header fields cut off.
    let middle = (0..<Int.random(in: 0...6, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
    let all = [("x", "x")] + middle + [("y", "y")]
    return (all.map(\.0).joined(), all.map(\.1).joined())
  }

  /// Bytes full of what looks like an end of a part.
  private func randomContent(_ generator: inout SeededGenerator) -> [UInt8] {
    let pieces = ["\r\n", "--", "--form-", "\r", "\n", "\r\n--form-0\r\n", "", "x", "\u{0}"].map { Array($0.utf8) }
    return (0..<Int.random(in: 0...8, using: &generator)).flatMap { _ in
      Bool.random(using: &generator) ? pieces.randomElement(using: &generator)! : generator.octets(upTo: 20)
    }
  }

  @Test func `a strict reader finds the parts of random forms`() async throws {
    var generator = SeededGenerator(seed: 7)
    for seed in 0..<300 {
      let form = randomForm(&generator)
      let (body, contentType) = try await encode(form, seed: UInt64(seed))
      #expect(try StrictMultipartReader.parts(of: body, contentType: contentType) == form.expected)
    }
  }

  #if os(Linux) || os(macOS)
    @Test(.enabled("needs Python 3") { try await PythonMultipartReader.isAvailable() })
    func `Python finds the parts of random forms`() async throws {
      var generator = SeededGenerator(seed: 8)
      var forms: [Form] = []
      // Python takes a form without parts for one that was cut off.
      while forms.count < 300 {
        let form = randomForm(&generator)
        if !form.parts.isEmpty { forms.append(form) }
      }
      var bodies: [(body: Data, contentType: String)] = []
      for (seed, form) in forms.enumerated() { bodies.append(try await encode(form, seed: UInt64(seed))) }
      let read = try await PythonMultipartReader.parts(of: bodies)
      #expect(read.count == forms.count)
      for (form, parts) in zip(forms, read) { #expect(parts == form.expected) }
    }
  #endif

  @Test(arguments: [0, 1, 500], [0, 1, 500])
  func `a boundary that occurs in a part is not used`(before: Int, after: Int) async throws {
    let (_, first) = try await encode(Form(), seed: 1)
    let boundary = try #require(first.split(separator: "boundary=").last)
    let content = String(repeating: "-", count: before) + boundary + String(repeating: "f", count: after)
    let hostile = Form(parts: [.field("a", String(content))])
    let (body, second) = try await encode(hostile, seed: 1)
    #expect(second != first)
    #expect(try StrictMultipartReader.parts(of: body, contentType: second)[0].content == Data(content.utf8))
    let harmless = Form(parts: [.field("a", String(content.replacing(boundary, with: boundary.dropLast())))])
    #expect(try await encode(harmless, seed: 1).contentType == first)
  }
}
