import Foundation
import RequestBehaviors

/// The operation behind `enqueue(_:delivery:)`: the parts of a request that can be kept.
struct StoredRequest: OutboxOperation {
  static let name = "outbox.request"

  struct Field: Codable {
    var name: String
    var value: String
  }

  var method: String
  var path: String
  var template: String
  var query: [Field]
  var fields: [Field]
  var body: Data?
  var contentType: String?
  var timeout: Double?
  var idleTimeout: Double?
  var statuses: [[Int]]?
  var authentication: String?
  var key: Key?
  /// The conditions of the delivery, which the file keeps in columns of their own.
  var delivery: OutboxDelivery { kept ?? OutboxDelivery() }
  private var kept: OutboxDelivery?

  struct Key: Codable {
    var value: String?
    var field: String
    var isQuoted: Bool
  }

  private enum CodingKeys: String, CodingKey {
    case method, path, template, query, fields, body, contentType, timeout, idleTimeout, statuses, authentication, key
  }

  /// Creates the stored form of a request.
  ///
  /// - Throws: ``OutboxError`` of code ``OutboxError/Code-swift.struct/cannotBeKept``, which names the part.
  init(_ request: Request<Void>, _ delivery: OutboxDelivery, encoder: any BodyEncoder) throws {
    try StoredRequest.checkParts(of: request)
    guard let path = request.pathBelowBase else {
      throw StoredRequest.refusal("a full URL", "give a path below the base URL")
    }
    if let fault = path.fault { throw NetworkError(.invalidRequest, fault) }
    kept = delivery
    method = request.method.rawValue
    self.path = path.text
    template = path.template
    query = request.query.items.map { Field(name: $0.name, value: $0.value) }
    fields = request.headers.map { Field(name: $0.name, value: $0.value) }
    if let content = request.body {
      guard let bytes = try content.bytes(with: encoder) else {
        throw StoredRequest.refusal(
          "a body that is a file, a stream or multipart", "attach the file to an operation of your own")
      }
      (body, contentType) = bytes
    }
    timeout = request.options.sets(StoredRequest.timeout) ? request.options.timeout?.inSeconds : nil
    idleTimeout = request.options.explicitIdleTimeout?.inSeconds
    statuses = request.options.sets(StoredRequest.statuses) ? request.options.acceptableStatuses.ranges : nil
    authentication = request.options.explicitAuthentication.map(StoredRequest.text)
    if let own = request.options.idempotencyKey {
      key = Key(value: own.givenValue, field: own.name, isQuoted: own.isQuoted)
    } else if delivery.key.isQuoted || delivery.key.name != IdempotencyKey.generated.name {
      // The value is in a column, and its field is not.
      key = Key(value: nil, field: delivery.key.name, isQuoted: delivery.key.isQuoted)
    }
  }

  func request(in db: Database) throws -> Request<Void> {
    var request = Request<Void>(
      RequestMethod(rawValue: method), RequestPath(text: path, template: template),
      query: Query(query.map { Query.Item($0.name, $0.value) }),
      headers: HeaderFields(fields.map { HeaderFields.Field($0.name, $0.value) }),
      body: body.map { .body(.data($0, contentType: contentType)) })
    if let timeout { request.options.timeout = Duration(clamping: timeout) }
    if let idleTimeout { request.options.idleTimeout = Duration(clamping: idleTimeout) }
    if let statuses { request.options.acceptableStatuses = StatusCodes(ranges: statuses) }
    switch authentication {
    case "required": request.options.authentication = .required
    case "optional": request.options.authentication = .optional
    case "none": request.options.authentication = .none
    case let text?: request.options.authentication = .only(String(text.dropFirst(5)))
    case nil: break
    }
    if let key {
      let made = key.value.map { IdempotencyKey.value($0) } ?? .generated
      request.options.idempotencyKey = made.inField(key.field, isQuoted: key.isQuoted)
    }
    return request
  }

  private static func text(_ authentication: AuthenticationRequirement) -> String {
    switch authentication {
    case .required: "required"
    case .optional: "optional"
    case .none: "none"
    case let other: "only " + (other.onlyName ?? "")
    }
  }
}

// MARK: - Refusals

extension StoredRequest {
  fileprivate static let timeout = "RequestBehaviors.Timeout"
  fileprivate static let statuses = "RequestBehaviors.AcceptableStatuses"
  private static let authentication = "RequestBehaviors.Authentication"

  private static let keptOptions: Set<String> = [
    timeout, "RequestBehaviors.IdleTimeout", statuses, authentication, "RequestBehaviors.IdempotencyKeyOption",
  ]

  fileprivate static func refusal(_ part: String, _ remedy: String) -> OutboxError {
    OutboxError(
      .cannotBeKept, "a request that is enqueued must not have \(part), which cannot be kept in a file; \(remedy)")
  }

  /// Throws if the request has a part that cannot be kept, or must not be.
  private static func checkParts(of request: Request<Void>) throws {
    let operation = "write an OutboxOperation, whose request(in:) makes it for each attempt"
    if let behavior = request.behaviors.first { throw refusal("the behavior \(type(of: behavior))", operation) }
    if request.removesBehaviors { throw refusal("removed behaviors", operation) }
    for name in request.options.setNames where !keptOptions.contains(name) {
      throw refusal("the option \(name)", operation)
    }
    for field in request.headers where field.isSensitive || Redactor.isCredentialField(field.name) {
      throw refusal("the field \(field.name), a credential", "let a behavior of the client set it")
    }
    for item in request.query.items where Redactor.isCredentialField(item.name) {
      throw refusal("the query item \(item.name), a credential", "let a behavior of the client set it")
    }
    if hidesName(in: request.pathBelowBase?.text ?? "") {
      throw refusal("a query with a credential in its path", "let a behavior of the client set it")
    }
  }

  /// Whether an item of a query in a path is named like a credential.
  private static func hidesName(in path: String) -> Bool {
    let query = path.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    return query.split(separator: "&").contains { item in
      let name = String(item.prefix { $0 != "=" })
      return Redactor.isCredentialField(name.removingPercentEncoding ?? name)
    }
  }
}

extension RequestOptions {
  fileprivate func sets(_ name: String) -> Bool {
    setNames.contains(name)
  }
}

extension StatusCodes {
  /// The statuses as pairs of a first and a last one.
  fileprivate var ranges: [[Int]] {
    var ranges: [[Int]] = []
    for status in 0...999 where contains(status) {
      if let last = ranges.last, last[1] == status - 1 {
        ranges[ranges.count - 1][1] = status
      } else {
        ranges.append([status, status])
      }
    }
    return ranges
  }

  fileprivate init(ranges: [[Int]]) {
    self = []
    for range in ranges where range.count == 2 && range[0] <= range[1] {
      self = union(StatusCodes(range[0]...range[1]))
    }
  }
}
