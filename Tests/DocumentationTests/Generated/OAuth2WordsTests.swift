import Foundation
import RequestBehaviorsOAuth2
import Testing

/// The tables of "Why did my sign-in fail?", made of the codes in the sources.
@Suite(.limited) struct OAuth2WordsTests {
  private static let article = "Sources/RequestBehaviorsOAuth2/RequestBehaviorsOAuth2.docc/WhyDidMySignInFail.md"

  /// The usual cause of each of the server's words, and a remedy.
  private static let words: [String: (cause: String, remedy: String)] = [
    "accessDenied": (
      "the user refused, or a rule of the server did for the user; the error's code is `oauth2Denied`",
      "show the sign-in again when the user wants it"
    ),
    "accountSelectionRequired": (
      "`prompt=none`, and the browser knows several accounts", "sign in without `prompt=none`"
    ),
    "authorizationPending": (
      "the user of another device has not decided yet", "nothing: the flow goes on waiting, and does not throw it"
    ),
    "consentRequired": (
      "`prompt=none`, and the user has not consented to a scope yet", "sign in without `prompt=none`"
    ),
    "expiredToken": (
      "the user of another device did not decide in time; the error's code is `oauth2Expired`",
      "begin another sign-in"
    ),
    "insufficientScope": (
      "the API wants a scope that the token lacks", "sign in again, with the scope among those of the flow"
    ),
    "insufficientUserAuthentication": (
      "the API wants a newer or stronger sign-in",
      "sign in again, with the `acr_values` or `max_age` of the API's challenge as parameters of the page"
    ),
    "interactionRequired": (
      "`prompt=none`, and the server wants to show the user something", "sign in without `prompt=none`"
    ),
    "invalidClient": (
      "a wrong id or secret, or the wrong ``ClientAuthentication``",
      "choose the method that the client is registered with"
    ),
    "invalidDPoPProof": (
      "a wrong clock, or a proxy that changes the URL", "set the clock; compare the URL that the server sees"
    ),
    "invalidGrant": (
      "the code or refresh token was spent, expired or revoked, or an assertion has a wrong time, key or party",
      "sign in again; look for a second program with the same store; for an assertion, set the clock and compare its claims"
    ),
    "invalidRequest": (
      "the server wants a further parameter, or a redirect URI that is registered",
      "compare the redirect URI with the registered one, letter by letter"
    ),
    "invalidScope": ("a scope that the client may not ask for, or a word with a mistake", "ask for fewer"),
    "invalidTarget": (
      "the server does not know a resource of the flow, or gives no token for all of them",
      "compare the `resources` with the server's documentation; sign in for each one"
    ),
    "invalidToken": (
      "the API does not take the token: it has expired, was revoked, or is for another API",
      "compare the API with the scopes and resources of the flow; the session has refreshed the token already"
    ),
    "loginRequired": (
      "`prompt=none`, and no user is signed in at the server", "sign in without `prompt=none`"
    ),
    "serverError": ("the server failed", "try again later; tell the server's owners"),
    "slowDown": (
      "another program asks with the same device code",
      "nothing: the flow waits longer, and does not throw it"
    ),
    "temporarilyUnavailable": ("the server is overloaded", "try again later"),
    "unauthorizedClient": ("the client is not registered for this grant", "register it"),
    "unsupportedGrantType": (
      "the server does not have this grant, or the URL is that of another endpoint",
      "look for the grant in the server's metadata (`grant_types_supported`)"
    ),
    "unsupportedResponseType": (
      "the server gives no codes to this client", "register the client for the authorization code grant"
    ),
    "unsupportedTokenType": (
      "the server revokes neither refresh tokens nor access tokens",
      "sign out without a closure; the token is valid until it expires"
    ),
    "useDPoPNonce": ("a second nonce in a row", "check the clock of the device, then tell the server's owners"),
  ]

  private func codes(in file: String) throws -> [String] {
    let pattern = /^ +public static let (\w+) = Self\(rawValue: "\w+"\)$/
    return try Declarations.matching(pattern, under: "Sources/RequestBehaviorsOAuth2").map(\.name).filter { name in
      try Repository.text("Sources/RequestBehaviorsOAuth2/\(file)").contains("static let \(name) = Self")
    }
  }

  @Test func `the table of the server's words has each code`() throws {
    let codes = try codes(in: "OAuth2Problem.swift")
    #expect(codes.count > 20)
    #expect(Set(codes).symmetricDifference(Self.words.keys).isEmpty)
    var rows = ["| `error.oauth2?.code` | usual cause | remedy |", "|---|---|---|"]
    for code in codes.sorted() {
      let word = Self.words[code] ?? ("(what is the cause?)", "(what is the remedy?)")
      rows.append("| ``OAuth2Problem/Code/\(code)`` | \(word.cause) | \(word.remedy) |")
    }
    try Repository.expect(Self.article, contains: rows.joined(separator: "\n"))
  }

  @Test func `the table of errors has each code of a sign-in`() throws {
    let article = try Repository.text(Self.article)
    let codes = try codes(in: "NetworkError+OAuth2.swift")
    #expect(codes.count > 8)
    #expect(codes.filter { !article.contains("\n| `\($0)` | ") } == [])
  }
}
