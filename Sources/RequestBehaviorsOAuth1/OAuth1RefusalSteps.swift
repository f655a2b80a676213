import Foundation
import RequestBehaviors

/// The steps of the signature that a service shows when it refuses a request: its base string or its parameters.
///
/// Services show them in the body, as a field of a form, a string of a JSON text or in the middle of a page, or in
/// `WWW-Authenticate`.
struct OAuth1RefusalSteps: Sendable {
  /// The base string that the service computed; `nil` if it shows none.
  private(set) var baseString: String?
  /// The parameter string that the service computed, in its escaped form; `nil` if it shows none.
  private(set) var parameters: String?
  /// The names of the parameters that the service misses.
  private(set) var absentParameters: [String] = []

  /// Searches a response of which only the first 64 KiB are read.
  init(_ response: NetworkResponse) {
    var body = Data()
    if case .data(let data) = response.body { body = data.prefix(65_536) }
    let challenges = response.headers.values(for: "WWW-Authenticate").flatMap(AuthenticationScheme.list)
    self.init(body, fields: challenges.flatMap(\.parameters))
  }

  /// Searches a body and the parameters of challenges.
  init(_ body: Data, fields: [(name: String, value: String)]) {
    let form = OAuth1TokenResponse(body).fields + fields
    absentParameters =
      form.first { $0.name == "oauth_parameters_absent" }?.value.split(separator: "&").map(String.init) ?? []
    // A value of a form or a JSON text is whole; the raw text of a page comes last, as it may go on after the string.
    let json = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
    let texts = form.map(\.value) + OAuth1RefusalSteps.strings(in: json) + [String(decoding: body, as: UTF8.self)]
    for text in texts {
      let text = text.replacingOccurrences(of: "&amp;", with: "&")
      if baseString == nil { baseString = OAuth1RefusalSteps.baseString(in: text) }
      if parameters == nil { parameters = OAuth1RefusalSteps.parameters(in: text) }
    }
  }

  /// Returns the strings of a JSON value, the outer ones first.
  private static func strings(in json: Any?) -> [String] {
    switch json {
    case let text as String: [text]
    case let list as [Any]: list.flatMap { strings(in: $0) }
    case let object as [String: Any]: object.sorted { $0.key < $1.key }.flatMap { strings(in: $0.value) }
    default: []
    }
  }

  /// Returns the first `METHOD&http…&…` of a text, as far as its characters are those of a base string.
  private static func baseString(in text: String) -> String? {
    let octets = Array(text.utf8)
    let marks = ["&http%3a", "&https%3a"].map { Array($0.utf8) }
    for start in octets.indices where octets[start] == UInt8(ascii: "&") {
      let rest = octets[start...].lazy.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
      guard marks.contains(where: { rest.starts(with: $0) }) else { continue }
      let method = octets[..<start].reversed().prefix { (0x41...0x5a).contains($0) }
      // Before the rest of the text is read, because a text may have thousands of marks without a method.
      guard !method.isEmpty else { continue }
      let end = octets[start...].firstIndex { !isPart($0) && $0 != UInt8(ascii: "&") } ?? octets.endIndex
      let found = String(decoding: octets[(start - method.count)..<end], as: UTF8.self)
      // What follows a third & is not of the base string.
      return found.split(separator: "&", omittingEmptySubsequences: false).prefix(3).joined(separator: "&")
    }
    return nil
  }

  /// Returns the first run of a text that has the parameters that every base string has, and not the signature.
  private static func parameters(in text: String) -> String? {
    let separators: Set<UInt8> = [UInt8(ascii: "&"), UInt8(ascii: "=")]
    let runs = Array(text.utf8).split { !isPart($0) && !separators.contains($0) }
    // A full stop at the end belongs to the sentence around it.
    let trimmed = runs.lazy.map { $0.last == UInt8(ascii: ".") ? $0.dropLast() : $0 }
    return trimmed.map { String(decoding: $0, as: UTF8.self) }.first { run in
      let names = run.split(separator: "&").map { $0.prefix { $0 != "=" } }
      return names.contains("oauth_consumer_key") && names.contains("oauth_nonce")
        && !names.contains("oauth_signature")
    }
  }

  /// Whether an octet is in an escaped name or value.
  private static func isPart(_ octet: UInt8) -> Bool {
    PercentEncoding.isUnreserved(octet) || octet == UInt8(ascii: "%")
  }
}

extension OAuth1RefusalSteps {
  /// Returns sentences about the differences between the service's steps and those of the request that was sent.
  ///
  /// - Parameters:
  ///   - signature: The signature of the request, made again.
  ///   - sent: The parameters that the request carries.
  /// - Returns: The sentences; empty if the service shows no step.
  func findings(comparedTo signature: OAuth1Signature, _ sent: OAuth1SentParameters) -> [String] {
    var findings = absentParameters.map { name in
      let shown = String(name.prefix(64))
      return sent[name] == nil
        ? "The service misses the parameter \(shown), and the request has none."
        : "The service misses the parameter \(shown), which the request carries: it was lost on the way, or the service"
          + " looks elsewhere for it. OAuth1Options.location says where it is."
    }
    guard !signature.key.method.isPlaintext else { return findings }
    if let baseString {
      findings.append(
        signature.difference(from: baseString).map { "The service shows its base string. \($0)" }
          ?? "The service shows its base string. The base strings agree, so the key differs: \(signature.keyParts).")
    } else if let parameters {
      // Method and URI are taken from our own side, since the service shows the parameters only.
      let ours = signature.baseString.split(separator: "&", omittingEmptySubsequences: false).prefix(2)
      let base = (ours.map(String.init) + [PercentEncoding.escape(parameters)]).joined(separator: "&")
      findings.append(
        signature.difference(from: base).map { "The service shows its parameters. \($0)" }
          ?? "The service shows its parameters. The parameters agree, so the method, the URI or the key differs: "
          + "\(signature.keyParts).")
    }
    return findings
  }
}

extension OAuth1Signature {
  /// The parts of the key, and where the service's may be other ones.
  fileprivate var keyParts: String {
    key.method.isRSA
      ? "the private key does not belong to the public key that the service has"
      : "the consumer secret or the token secret is not the service's, or the service expects another signature method"
  }
}
