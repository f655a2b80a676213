import Foundation
public import RequestBehaviors

/// The steps to the signature of a request that was sent, and its possible faults.
///
/// ``OAuth1Session/explain(_:)-(Error)`` makes one from the error of a refused request:
///
/// ```swift
/// do {
///   try await client.send(.get("statuses"))
/// } catch {
///   print(session.explain(error))
/// }
/// ```
///
/// Descriptions show no secret.
public struct OAuth1Explanation: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The signature that the session makes of the request, with the nonce and the timestamp that were sent; `nil` if the
  /// request was not signed or cannot be.
  public let signature: OAuth1Signature?

  /// Whether the request carries the signature that the session makes of it; `nil` if there is no signature, or if only
  /// the private key of an RSA method could tell.
  public let isSignatureReproduced: Bool?

  /// The problem that the service reports, its `oauth_problem`; `nil` if it reports none.
  public let problem: String?

  /// The possible faults, in sentences, the surest first; empty if the request looks right.
  public let findings: [String]

  /// The findings, and the steps of the signature if there is one.
  public var description: String {
    let list = findings.isEmpty ? ["Nothing is wrong at first sight."] : findings
    let steps = signature.map { "\n" + $0.explanation() } ?? ""
    return list.map { "- " + $0 }.joined(separator: "\n") + steps
  }

  /// The description.
  public var debugDescription: String { description }

  /// A mirror without children, so that `dump` shows no secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension OAuth1Session {
  /// Explains why a request may have been refused.
  ///
  /// - Parameter error: The error that `send` threw.
  /// - Returns: The explanation of the request that the error carries; without a request, one that says so.
  public func explain(_ error: any Error) -> OAuth1Explanation {
    guard let error = error as? NetworkError, let request = error.request else {
      return OAuth1Explanation(
        signature: nil, isSignatureReproduced: nil, problem: nil,
        findings: ["The error is not a NetworkError with a request, so there is nothing to explain."])
    }
    return explain(request, response: error.response, message: error.response == nil ? error.message : nil)
  }

  /// Explains the signature of a request that was sent.
  ///
  /// The nonce, the timestamp and the other protocol parameters are read from the request, so the steps are those of
  /// the signature that was sent. The secrets are those of the session and of the user who is signed in now.
  ///
  /// - Parameters:
  ///   - request: The request as it was sent, such as `NetworkResponse.request` or `NetworkError.request`.
  ///   - response: The response, if there is one.
  /// - Returns: The explanation.
  public func explain(_ request: NetworkRequest, response: NetworkResponse? = nil) -> OAuth1Explanation {
    explain(request, response: response, message: nil)
  }

  private func explain(
    _ request: NetworkRequest, response: NetworkResponse?, message: String?
  ) -> OAuth1Explanation {
    // The response comes first: the service may say itself what is wrong.
    let refusal = response.map { OAuth1Refusal($0) }
    var findings: [String] = []
    let redactor = Redactor.standard.hiding(secretsOf: request)
    if let message { findings.append("There is no response: \(redactor.redact(text: message)).") }
    if let response {
      let reason = (refusal?.reason ?? response.refusalReason).map { redactor.redact(text: $0) }
      findings.append("The service answered \(response.statusCode)\(reason.map { ": \($0)" } ?? "").")
    }
    guard let sent = OAuth1SentParameters(request) else {
      findings.append(whyUnsigned(request))
      return OAuth1Explanation(
        signature: nil, isSignatureReproduced: nil, problem: refusal?.problem, findings: findings)
    }
    findings += differences(from: sent)
    findings += sent.clockFindings(response, now: request.call.clock.date())
    if let late = OAuth1Advice.timestamp(sent["oauth_timestamp"], outside: refusal?.acceptableTimestamps) {
      findings.append(late)
    }
    if refusal?.timestampVerdict == .refused, request.origin?.scheme == "http", !trustsClockOverHTTP {
      findings.append("Over http the clock is not corrected, unless the session has trustsClockOverHTTP.")
    }

    let signature: OAuth1Signature
    do {
      signature = try self.signature(of: sent, in: request)
    } catch {
      findings.append("The request cannot be signed again: \((error as? NetworkError)?.message ?? "\(error)").")
      return OAuth1Explanation(
        signature: nil, isSignatureReproduced: nil, problem: refusal?.problem, findings: findings)
    }
    // The surest finding, if the service shows its own steps.
    let steps = response.map { OAuth1RefusalSteps($0).findings(comparedTo: signature, sent) } ?? []
    findings += steps.map { redactor.redact(text: $0) }
    // Only with the private key could an RSA signature be made again.
    let isReproduced = signatureMethod.isRSA ? nil : signature.signature == sent["oauth_signature"]
    if isReproduced == false {
      findings.append(
        "The request carries another signature than this session makes of it: it was changed after it was signed, or"
          + " signed with other secrets.")
    }
    findings += signature.suspicions
    // A comparison or a suspicion says more than the general remedy.
    let isUnexplained = steps.isEmpty && signature.suspicions.isEmpty && isReproduced != false
    if let problem = refusal?.problem {
      findings += [OAuth1Advice.remedy(for: problem, isUnexplained: isUnexplained)].compactMap(\.self)
    }
    return OAuth1Explanation(
      signature: signature, isSignatureReproduced: isReproduced, problem: refusal?.problem, findings: findings)
  }

  private func whyUnsigned(_ request: NetworkRequest) -> String {
    guard let origin = request.origin else { return "The request is not signed: its URL is not http or https." }
    if !request.options.authentication.includes(name) {
      return "The request is not signed: its option authentication does not ask for this session."
    }
    if !origins.includes(origin, base: request.call.baseOrigin) {
      return
        "The request is not signed: \(origin) is not one of the session's origins. List it in OAuth1Session.origins"
        + " if it shall have your signatures."
    }
    if currentSigner == nil { return "The request is not signed: no user is signed in." }
    return "The request is not signed: it was not sent through an OAuth1Behavior of this session."
  }

  /// Returns sentences about the credentials of the request that are not this session's.
  private func differences(from sent: OAuth1SentParameters) -> [String] {
    var findings: [String] = []
    if sent["oauth_consumer_key"] != consumer.key {
      findings.append("The request is signed for another consumer than this session's.")
    }
    if let method = sent["oauth_signature_method"], method != signatureMethod.name {
      findings.append("The request is signed by \(method.prefix(32)), this session signs by \(signatureMethod.name).")
    }
    guard let token = sent["oauth_token"], token != credentials?.token else { return findings }
    return findings + [
      credentials?.token == nil
        ? "The request is signed for a user, and this session has no user's token now."
        : "The request is signed with another token than that of the user who is signed in now."
    ]
  }

  private func signature(of sent: OAuth1SentParameters, in request: NetworkRequest) throws -> OAuth1Signature {
    // A request without a token is the app's own, such as the one for a request token.
    let secret = sent["oauth_token"] == nil ? "" : credentials?.secret ?? ""
    var parameters = OAuth1ProtocolParameters(
      consumerKey: sent["oauth_consumer_key"] ?? "", token: sent["oauth_token"], nonce: sent["oauth_nonce"],
      timestamp: sent["oauth_timestamp"].flatMap { Int($0) })
    parameters.bodyHash = sent["oauth_body_hash"]
    parameters.additional = sent.additional
    var options = options
    options.location = sent.location
    options.realm = sent.realm
    options.includesVersion = sent["oauth_version"] != nil
    options.includesBodyHash = false
    return try OAuth1Signature(
      method: request.method, url: sent.url, headers: request.headers, body: sent.body, parameters: parameters,
      key: OAuth1SigningKey(method: signatureMethod, consumerSecret: consumer.secret, tokenSecret: secret),
      options: options, sentSignature: signatureMethod.isRSA ? sent["oauth_signature"] : nil)
  }
}

/// The protocol parameters of a request that was sent, read from where they were placed (RFC 5849 §3.5).
struct OAuth1SentParameters: Sendable {
  let location: OAuth1ParameterLocation
  let realm: String?
  let parameters: [(name: String, value: String)]
  /// The request's URL and body without the protocol parameters.
  let url: URL
  let body: Data?

  /// - Returns: `nil` if the request has no `oauth_signature`.
  init?(_ request: NetworkRequest) {
    // The three places of RFC 5849 §3.5, in its order.
    let isForm = OAuth1Signature.isForm(contentType: request.headers["Content-Type"])
    let schemes = request.headers.values(for: "Authorization").flatMap(AuthenticationScheme.list)
    if let scheme = schemes.first(where: { $0.name.lowercased() == "oauth" }) {
      location = .authorizationHeader
      realm = scheme.parameters.first { $0.name == "realm" }?.value
      parameters = scheme.parameters.filter { $0.name != "realm" }.map {
        (name: PercentEncoding.decodedForm($0.name), value: PercentEncoding.decodedForm($0.value))
      }
      (url, body) = (request.url, request.body?.data)
    } else if isForm, let form = request.body?.data, let start = OAuth1SentParameters.start(in: Array(form)) {
      location = .formBody
      realm = nil
      parameters = OAuth1TokenResponse(form.dropFirst(start.own)).fields
      (url, body) = (request.url, Data(form.prefix(start.rest)))
    } else {
      let text = Array(request.url.absoluteString.utf8)
      guard let mark = text.firstIndex(of: UInt8(ascii: "?")),
        case let query = Array(text[(mark + 1)...].prefix { $0 != UInt8(ascii: "#") }),
        let start = OAuth1SentParameters.start(in: query)
      else { return nil }
      location = .query
      realm = nil
      parameters = OAuth1TokenResponse(query.dropFirst(start.own)).fields
      body = request.body?.data
      let end = start.rest == 0 ? mark : mark + 1 + start.rest
      url = URL(string: String(decoding: text[..<end], as: UTF8.self)) ?? request.url
    }
    if self["oauth_signature"] == nil { return nil }
  }

  /// Returns where the protocol parameters at the end of a form or query begin, and where the text before them ends.
  private static func start(in form: [UInt8]) -> (own: Int, rest: Int)? {
    let name = Array("oauth_consumer_key=".utf8)
    let starts = [0] + form.indices.filter { form[$0] == UInt8(ascii: "&") }.map { $0 + 1 }
    guard let own = starts.last(where: { form[$0...].starts(with: name) }) else { return nil }
    return (own, max(0, own - 1))
  }

  subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The parameters that are not sent with every request.
  var additional: [(name: String, value: String)] {
    parameters.filter { !OAuth1ProtocolParameters.protocolNames.contains($0.name) && $0.name != "oauth_body_hash" }
  }

  /// Returns a sentence if the timestamp and the service's date are far apart.
  func clockFindings(_ response: NetworkResponse?, now: Date) -> [String] {
    guard let timestamp = self["oauth_timestamp"].flatMap({ Int($0) }),
      let date = response?.headers["Date"].flatMap({ HTTPDate.date(from: $0, now: now) })
    else { return [] }
    let seconds = (Double(timestamp) - date.timeIntervalSince1970).rounded()
    guard abs(seconds) >= OAuth1Clock.tolerance else { return [] }
    let side = seconds < 0 ? "behind" : "ahead of"
    return ["The timestamp is \(Int(exactly: abs(seconds)) ?? .max) s \(side) the Date of the response."]
  }
}
