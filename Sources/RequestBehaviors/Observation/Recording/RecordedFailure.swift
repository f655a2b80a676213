package import Foundation

/// The facts from which a test is made that fails as a call did: its request, what its sends brought, and its error.
///
/// Secrets are hidden by values of the same type, so that a body still decodes, or does not, as before. An archive
/// holds it beside the calls, so that an app hands the archive on and a developer makes the test.
package struct RecordedFailure: Sendable, Hashable {
  /// The outcome of one send, as a mock or a cassette plays it.
  package struct Reply: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
      case response
      /// The head and a part of the body arrived, and then the send failed.
      case cut
      case failure
      /// Nothing came while the call waited.
      case never
    }

    package let method: RequestMethod
    package let url: String
    package let kind: Kind
    /// The time since the first send.
    package let at: Duration
    package var status = 200
    package var headers = HeaderFields()
    package var body = Data()
    /// The code and the message of the error that a send ended with.
    package var code = ""
    package var message = ""
    package var stage: NetworkError.Progress.Stage?

    package init(_ method: RequestMethod, _ url: String, _ kind: Kind, at time: Duration) {
      (self.method, self.url, self.kind, self.at) = (method, url, kind, time)
    }

    /// The URL without its query.
    package var place: String { String(url.prefix { $0 != "?" }) }
  }

  package let method: RequestMethod
  package let url: String
  /// The fields that the user set on the request, without credentials.
  package var fields = HeaderFields()
  /// The body of the request; `nil` without a body, and empty if it is unknown.
  package var body: Data?
  package var bodyType = ""
  package var isStreamed = false
  /// The reflected name of the type that a body did not decode as; `nil` for no such error.
  package var wantedType: String?
  package var decodingPath: String?

  package var code: String
  package var statusCode: Int?
  package var message: String
  package var sendCount: Int

  /// The outcomes of the sends of the call and of those that it needed, in order.
  package var replies: [Reply] = []
  /// The names of the behaviors, outermost first; empty if they are unknown.
  package var behaviors: [String] = []

  package init(
    _ method: RequestMethod, _ url: String, code: String, statusCode: Int?, message: String, sendCount: Int
  ) {
    (self.method, self.url, self.code, self.statusCode) = (method, url, code, statusCode)
    (self.message, self.sendCount) = (message, sendCount)
  }
}

// MARK: - In an archive

extension RecordedFailure {
  var json: OrderedJSON {
    .members([
      "method": .string(method.rawValue), "url": .string(url), "fields": fields.isEmpty ? nil : fields.har,
      "body": body.map(OrderedJSON.init(body:)), "bodyType": body.map { _ in .string(bodyType) },
      "isStreamed": isStreamed ? .bool(true) : nil, "wantedType": wantedType.map { .string($0) },
      "decodingPath": decodingPath.map { .string($0) }, "code": .string(code),
      "status": statusCode.map { .integer($0) }, "message": .string(message), "sends": .integer(sendCount),
      "replies": .array(replies.map(\.json)), "behaviors": .array(behaviors.map { .string($0) }),
    ])
  }

  /// Reads what ``json`` wrote; `nil` if a member is missing that a test needs.
  init?(_ json: OrderedJSON?) {
    guard let json, let method = json["method"]?.text, let url = json["url"]?.text, let code = json["code"]?.text,
      let sends = json["sends"]?.int
    else { return nil }
    self.init(
      RequestMethod(rawValue: method), url, code: code, statusCode: json["status"]?.int,
      message: json["message"]?.text ?? "", sendCount: max(0, sends))
    fields = HeaderFields(har: json["fields"])
    body = json["body"]?.bodyData
    bodyType = json["bodyType"]?.text ?? ""
    isStreamed = json["isStreamed"]?.isTrue ?? false
    wantedType = json["wantedType"]?.text
    decodingPath = json["decodingPath"]?.text
    replies = (json["replies"]?.elements ?? []).compactMap(Reply.init)
    behaviors = (json["behaviors"]?.elements ?? []).compactMap(\.text)
  }
}

extension RecordedFailure.Reply {
  fileprivate var json: OrderedJSON {
    .members([
      "method": .string(method.rawValue), "url": .string(url), "kind": .string(kind.rawValue),
      "at": .milliseconds(at), "status": .integer(status), "fields": headers.isEmpty ? nil : headers.har,
      "body": body.isEmpty ? nil : OrderedJSON(body: body), "code": code.isEmpty ? nil : .string(code),
      "message": message.isEmpty ? nil : .string(message), "stage": stage.map { .string($0.name) },
    ])
  }

  fileprivate init?(_ json: OrderedJSON) {
    guard let method = json["method"]?.text, let url = json["url"]?.text,
      let kind = json["kind"]?.text.flatMap(Kind.init)
    else { return nil }
    self.init(RequestMethod(rawValue: method), url, kind, at: json["at"]?.milliseconds ?? .zero)
    status = json["status"]?.int ?? 200
    headers = HeaderFields(har: json["fields"])
    body = json["body"]?.bodyData ?? Data()
    code = json["code"]?.text ?? ""
    message = json["message"]?.text ?? ""
    stage = json["stage"]?.text.flatMap(NetworkError.Progress.Stage.init)
  }
}

extension NetworkError.Progress.Stage {
  /// The name in files.
  package var name: String {
    switch self {
    case .notSent: "notSent"
    case .sent: "sent"
    case .headReceived: "headReceived"
    }
  }

  /// Reads a stage from a file; `nil` for an unknown name.
  package init?(name: String) {
    switch name {
    case "notSent": self = .notSent
    case "sent": self = .sent
    case "headReceived": self = .headReceived
    default: return nil
    }
  }
}

extension OrderedJSON {
  /// A body as text, or in base64 if it is not UTF-8.
  fileprivate init(body: Data) {
    self =
      switch String(data: body, encoding: .utf8) {
      case let text?: .string(text)
      case nil: .members(["base64": .string(body.base64EncodedString())])
      }
  }

  /// The bytes of such a body; `nil` for anything else.
  fileprivate var bodyData: Data? {
    if let text { return Data(text.utf8) }
    return self["base64"]?.text.flatMap { Data(base64Encoded: $0) }
  }
}
