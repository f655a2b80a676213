import Foundation
import TestSupport
import Testing

// The pure parts of a command are internal; their public face needs a whole request.
@testable import RequestBehaviors

@Suite(.limited) struct ShellQuotingTests {
  @Test(arguments: [
    ("plain", "plain"), ("https://h/a", "https://h/a"), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
    ("$HOME `x` \\ \"", "'$HOME `x` \\ \"'"), ("a\nb", "'a\nb'"), ("?x&y", "'?x&y'"), ("~", "'~'"), ("ü", "'ü'"),
    ("!", "'!'"),
  ])
  func `a word is quoted unless the shell leaves it alone`(word: String, quoted: String) {
    #expect(ShellQuoting.quote(word) == quoted)
  }

  #if os(Linux) || os(macOS)
    @Test func `the shell reads every byte back`() async throws {
      let bytes = (0...255).map { UInt8($0) } + Array("-n %s \\101 '1".utf8)
      #expect(try await shell(ShellQuoting.printf(bytes)) == Data(bytes))
      #expect(try await shell(ShellQuoting.printf(Array("-n".utf8))) == Data("-n".utf8))
      let word = String(decoding: (1...127).map { UInt8($0) }, as: UTF8.self) + "ü'"
      #expect(try await shell("printf %s " + ShellQuoting.quote(word)) == Data(word.utf8))
    }

    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{1F3FB}"])
    func `a quote is escaped whatever mark follows it`(mark: String) async throws {
      let word = "'\(mark); exit 3 #"
      #expect(try await shell("printf %s " + ShellQuoting.quote(word)) == Data(word.utf8))
    }

    private func shell(_ command: String) async throws -> Data {
      try await ChildProcess.run(URL(fileURLWithPath: "/bin/sh"), ["-c", command]).output
    }
  #endif
}

@Suite(.limited) struct CURLCommandTests {
  @Test func `a plain GET needs no options but those that remove curl's own fields`() {
    let command = CURLCommand(method: "GET", url: "https://h/a?b=c", headers: ["Accept": "*/*"])
    #expect(command.text(multiline: false) == "curl 'https://h/a?b=c' --header 'Accept: */*' --header User-Agent:")
  }

  @Test func `a POST carries method, fields and body`() {
    var command = CURLCommand(method: "PUT", url: "https://h/[a]/../{b}", headers: ["X": ""])
    command.headers = [
      "X": "", "Accept": "a", "User-Agent": "b", "Content-Type": "c", "Content-Length": "9", "Expect": "",
    ]
    command.body = Data("@it's".utf8)
    #expect(
      command.text(multiline: true) == #"""
        curl --request PUT --globoff --path-as-is 'https://h/[a]/../{b}' \
          --header 'X;' \
          --header 'Accept: a' \
          --header 'User-Agent: b' \
          --header 'Content-Type: c' \
          --header 'Expect;' \
          --data-raw '@it'\''s'
        """#)
  }

  @Test(arguments: [
    ("GET", nil, "curl https"), ("HEAD", nil, "curl --head https"), ("POST", "", "curl https"),
    ("POST", nil, "curl --request POST"),
    ("GET", "x", "curl --request GET"), ("DELETE", nil, "curl --request DELETE"),
    ("M'", nil, #"curl --request 'M'\''' "#),
  ])
  func `the method is named where curl would choose another`(method: String, body: String?, start: String) {
    let command = CURLCommand(method: method, url: "https://h/", headers: [:], body: body.map { Data($0.utf8) })
    #expect(command.text(multiline: false).hasPrefix(start))
  }

  @Test func `bytes that a word cannot hold are written by printf`() {
    let command = CURLCommand(method: "POST", url: "https://h/", headers: [:], body: Data([0, 0xFF]))
    #expect(command.text(multiline: false).hasPrefix(#"printf '\000\377' | curl https://h/ "#))
    #expect(command.text(multiline: false).hasSuffix("--data-binary @-"))
  }

  @Test func `a body file is passed by its name`() {
    let command = CURLCommand(method: "POST", url: "https://h/", headers: [:], file: "/a b")
    #expect(command.text(multiline: false).hasSuffix("--data-binary '@/a b'"))
  }
}
