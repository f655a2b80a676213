#if os(Linux) || os(macOS)
  import Foundation
  import RequestBehaviors
  import TestSupport
  import Testing

  /// `swift run QuickStart sign-in`, in a process of its own, with users who press the buttons of its page.
  @Suite(.limited) struct QuickStartSignInTests {
    private let process: ChildProcess

    init() throws {
      let program = try #require(ChildProcess.fixture("QuickStart"), "QuickStart was not built")
      process = try ChildProcess(program, ["sign-in", "--no-browser"])
    }

    /// Reads until the link, which has a line of its own.
    private func link() async throws -> (page: URL, text: String) {
      var text = ""
      while case let more = await process.lines(1), !more.isEmpty {
        text += more
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        let line = lines.first { $0.contains("/authorize?") }
        if let line { return (url(line.trimmingCharacters(in: .whitespaces)), text) }
      }
      throw HTTPSurprise(text: text)
    }

    private struct HTTPSurprise: Error { let text: String }

    /// Presses a button of a page with a client that follows redirects, and returns the last page.
    private func press(_ decision: String, on page: URL) async throws -> String {
      let client = NetworkClient(baseURL: page)
      let form: String = try await client.send(.get(url: page))
      #expect(form.contains("Allow quick-start to act for you?"))
      return try await client.send(.get(url: url("\(page.absoluteString)&decision=\(decision)")))
    }

    @Test func `a plain client that follows the link signs in, and all of the tour is shown`() async throws {
      let page = try await link().page
      #expect(try await press("allow", on: page) == "The sign-in goes on in the program. You can close this page.\n")
      let result = await process.end()
      #expect(result.status == 0, "\(result.text)")
      let headings = [
        "Requests carry the token", "A token that has expired is refreshed, and the request sent again",
        "A replayed refresh token is refused, and ends the sign-in at the server",
        "A sign-out forgets the token first, and then has the server revoke it",
      ]
      for heading in headings { #expect(result.text.contains(heading)) }
      #expect(result.text.hasSuffix("All as it should be.\n"))
      #expect(!result.text.contains("access-"))
      #expect(!result.text.contains("refresh-"))
    }

    @Test func `a user who denies access sees the refusal in the browser and in the program`() async throws {
      let page = try await link().page
      #expect(try await press("deny", on: page) == "The server refused the sign-in. You can close this page.\n")
      let result = await process.end()
      #expect(result.status == 1)
      #expect(result.text.contains("oauth2Denied"))
    }

    #if os(Linux)
      @Test(.enabled(if: HeadlessBrowser.executable != nil, "Chromium is not installed"))
      func `a button of the page in Chromium signs in`() async throws {
        let page = try await link().page
        let browser = try await HeadlessBrowser(opening: page)
        try await browser.wait(until: #"document.querySelector("button[value=allow]")"#)
        #expect(try await browser.evaluate("document.querySelector('h1').innerText").contains("quick-start"))
        _ = try await browser.evaluate(#"document.querySelector("button[value=allow]").click()"#)
        try await browser.wait(until: #"location.pathname == "/signed-in" && document.body"#)
        #expect(try await browser.evaluate("document.body.innerText").contains("You can close this page."))
        await browser.close()
        let result = await process.end()
        #expect(result.status == 0, "\(result.text)")
        #expect(result.text.hasSuffix("All as it should be.\n"))
      }
    #endif
  }
#endif
