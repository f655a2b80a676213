/// A key that stays the same for all attempts: it asks the server to carry out a request once, however often it
/// arrives.
///
/// ```swift
/// let payment: Payment = try await client.send(
///   .post("payments", body: .json(order))
///     .with(\.idempotencyKey, .value("order-\(order.id)")))
/// ```
///
/// With a key, a POST, a PATCH or another request that is not idempotent by its method is repeated like the others.
/// Other methods get no key. ``generated`` makes one for each call. A key derived from the data of the request also
/// covers a second call, made after the app ended in the middle of the first.
///
/// Only a server that knows the field honors it. Any other server carries out each attempt that arrives.
///
/// A redirect that changes the method or leads to another origin removes the key.
///
/// An empty key does not count, because no server can tell requests apart by it.
public struct IdempotencyKey: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case generated
    case value(String)
  }

  let source: Source

  /// The field that carries the key; `Idempotency-Key` by default.
  public var name = "Idempotency-Key"

  /// Whether the key is sent in quotation marks.
  ///
  /// The IETF draft (draft-ietf-httpapi-idempotency-key-header-07 §2.1) requires them. Stripe and most other servers
  /// expect the key without them, which is the default.
  public var isQuoted = false

  /// A key that is made once for each call, a random UUID.
  ///
  /// With a key the client repeats a POST or PATCH that may have taken effect. A server that does not know the field
  /// ignores it and carries the request out again: an order is placed twice, a comment is posted twice. So set it only
  /// for servers that document the field.
  public static let generated = IdempotencyKey(from: .generated)

  private init(from source: Source) { self.source = source }

  /// Creates a key that is derived from the data of the request.
  public init(_ value: String) { self.init(from: .value(value)) }

  /// A key that the caller derives from the data of the request.
  public static func value(_ value: String) -> IdempotencyKey { IdempotencyKey(value) }

  /// Returns the same key for another field.
  ///
  /// - Parameters:
  ///   - name: The field that carries the key.
  ///   - isQuoted: Whether the key is sent in quotation marks.
  /// - Returns: The key.
  public func inField(_ name: String, isQuoted: Bool = false) -> IdempotencyKey {
    var key = self
    key.name = name
    key.isQuoted = isQuoted
    return key
  }

  /// Returns what the field has for a value of the key; in quotation marks, it is a string of RFC 9651 §3.3.3.
  package func text(of value: String) -> String { isQuoted ? StructuredText.quoted(value) : value }
}

/// The key that was generated for a call.
private enum UsedIdempotencyKey: CallKey {
  static let defaultValue: String? = nil
}

extension NetworkRequest {
  /// The field that carries the idempotency key.
  private var idempotencyField: String { options.idempotencyKey?.name ?? "Idempotency-Key" }

  /// Whether the request carries an idempotency key, in the field that its options name.
  public var hasIdempotencyKey: Bool { headers[idempotencyField]?.isEmpty == false }

  /// Sets the key that the options ask for, unless the method is idempotent or the user set the field.
  ///
  /// An empty key is not set, and an empty field is replaced.
  ///
  /// - Parameter makeKey: Returns a new key, and must not use the call. It is called at most once for a call, so that
  ///   every attempt has the same key.
  public mutating func setIdempotencyKey(making makeKey: () -> String) {
    guard let key = options.idempotencyKey, !method.isIdempotent, !hasIdempotencyKey else { return }
    let value =
      switch key.source {
      case .value(let value): value
      case .generated:
        call.update(UsedIdempotencyKey.self) { used in
          if let used { return used }
          let made = makeKey()
          used = made
          return made
        }
      }
    if !value.isEmpty { headers[key.name] = key.text(of: value) }
  }

  /// Removes the idempotency key, because it is valid only for the request that it was made for.
  ///
  /// Use it in a behavior that turns this request into another one, with another method or for another origin.
  public mutating func removeIdempotencyKey() { headers.removeIdempotencyKey(in: idempotencyField) }
}

extension HeaderFields {
  /// Removes the field of the usual name, and the field that the options name.
  mutating func removeIdempotencyKey(in field: String?) {
    for name in Set(["Idempotency-Key", field ?? "Idempotency-Key"]) { remove(name) }
  }
}
