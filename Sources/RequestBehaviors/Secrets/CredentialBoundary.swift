// What may go to which origin: the rules for credentials, other secrets and options, all in this file.
//
// 1. A field whose name means a credential is a secret, also where it is not marked (`isNamedLikeCredential`).
// 2. A secret of a request is for the request's origin, one of a behavior for the base URL's, unless its mark says
//    otherwise (`markCredentials`, `markUnmarked`).
// 3. A request that moves to another origin, by a redirect or by a link to a page, loses the secrets that are not for
//    both origins, `Host` and `Origin`, its idempotency key, and the options that are not portable (`leave`).
// 4. Right before the send, each secret that is not for the request's origin is removed, whichever
//    behavior added it (`removeForeignSecrets`).

// MARK: - Names

extension HeaderFields.Field {
  /// Whether the name alone tells that the value is a credential.
  public var isNamedLikeCredential: Bool { Redactor.isCredentialField(name) }
}

// MARK: - Marks

extension HeaderFields {
  /// Marks the unmarked fields whose names mean a credential.
  mutating func markCredentials(as scope: OriginScope) {
    mark(as: scope) { !$0.isSensitive && $0.isNamedLikeCredential }
  }

  /// Marks every unmarked field, except those that another list has with the same value.
  mutating func markUnmarked(as scope: OriginScope, except others: HeaderFields = HeaderFields()) {
    mark(as: scope) { field in
      !field.isSensitive
        && !others.contains { $0.value == field.value && HeaderFields.areEqual($0.name, field.name) }
    }
  }
}

// MARK: - Another origin

extension HeaderFields {
  /// Removes the fields that must not go to another origin: `Host`, `Origin`, and the sensitive fields that are not for
  /// both origins.
  fileprivate mutating func leave(_ left: Origin?, for other: Origin?, base: Origin?) {
    removeAll { field in
      if ["Host", "Origin"].contains(where: { HeaderFields.areEqual($0, field.name) }) { return true }
      guard let scope = field.sensitivity else { return false }
      guard let left, let other else { return true }
      return !scope.includes(left, base: base) || !scope.includes(other, base: base)
    }
  }
}

extension NetworkRequest {
  /// Removes everything that is for the previous origin only; later hops do not restore it.
  mutating func leave(_ left: Origin?) {
    headers.markCredentials(as: .baseURL)
    headers.leave(left, for: origin, base: call.baseOrigin)
    removeIdempotencyKey()
    options = options.portable()
  }
}

extension Request {
  /// Prepares the request for another origin, to which a link led.
  ///
  /// It removes the secret fields that are for other origins, the options that are not portable, and the name of the
  /// endpoint.
  mutating func leave(_ origin: Origin?, for other: Origin, base: Origin?) {
    if let origin { headers.markCredentials(as: .only([origin])) }
    headers.leave(origin, for: other, base: base)
    headers.removeIdempotencyKey(in: options.idempotencyKey?.name)
    options = options.portable()
    if case .url(let url, _) = target { target = .url(url) }
  }
}

// MARK: - The send

extension HeaderFields {
  /// Removes every secret that is not for an origin.
  ///
  /// - Parameters:
  ///   - origin: The origin of the request; without one, all secrets are removed.
  ///   - base: The origin of the client's base URL.
  /// - Returns: The names of the removed fields.
  mutating func removeForeignSecrets(for origin: Origin?, base: Origin?) -> [String] {
    markCredentials(as: .baseURL)
    func isForeign(_ field: Field) -> Bool {
      guard let scope = field.sensitivity else { return false }
      return origin.map { !scope.includes($0, base: base) } ?? true
    }
    // Most requests have no such field, and the list need not be copied.
    let withheld = filter(isForeign).map(\.name)
    if !withheld.isEmpty { removeAll(where: isForeign) }
    return withheld
  }
}
