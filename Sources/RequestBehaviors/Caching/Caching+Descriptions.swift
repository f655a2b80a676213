import Foundation

// What is stored holds URLs with secrets, fields and bodies. None of it is shown by print or dump.

extension CacheKey: CustomStringConvertible, CustomReflectable {
  /// The URL without secrets, and whose response it is.
  public var description: String {
    let shown = URL(string: url).map { Redactor.standard.redact($0) } ?? Redactor.placeholder
    return "CacheKey(\(shown), scopes: \(scopes.count))"
  }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension StoredResponse: CustomStringConvertible, CustomReflectable {
  /// The status, the size and the time; neither fields nor body.
  public var description: String { "StoredResponse(\(statusCode), \(body.count) bytes, stored \(storedAt))" }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CacheEntry: CustomStringConvertible, CustomReflectable {
  /// The key and the status, without secrets.
  public var description: String { "CacheEntry(\(response.statusCode), \(bodySize) bytes, \(key))" }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CacheEvent: CustomStringConvertible, CustomReflectable {
  /// What was done and for which URL, without secrets.
  public var description: String {
    let reason = refusal.map { ": \($0)" } ?? ""
    return "\(kind)\(reason) \(Redactor.standard.hiding(secretsOf: request).redact(request.url))"
  }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CacheVariant: CustomStringConvertible, CustomReflectable {
  /// The names of the fields, not their values.
  public var description: String { "CacheVariant(\(fields.map(\.name).joined(separator: ", ")))" }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension MemoryCacheStore: CustomStringConvertible, CustomReflectable {
  /// How much is stored; none of it.
  public var description: String { "MemoryCacheStore(\(count) responses, \(size) of \(capacity) bytes)" }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CachingBehavior: CustomStringConvertible, CustomReflectable {
  /// The name of the type.
  public var description: String { "CachingBehavior" }

  /// A mirror without children, so that dumping a client shows nothing that is stored or under way.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
