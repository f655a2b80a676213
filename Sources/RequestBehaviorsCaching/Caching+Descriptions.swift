import Foundation
import RequestBehaviors

// Stored responses and their keys hold secrets in URLs, fields and bodies. `print` and `dump` show none of them.

extension CacheKey: CustomStringConvertible, CustomReflectable {
  /// The URL without secrets, and the number of owners.
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
  /// The kind of the event and the URL, without secrets.
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
  /// The number of responses and of bytes; no content.
  public var description: String { "MemoryCacheStore(\(count) responses, \(size) of \(capacity) bytes)" }

  /// A mirror with the description only.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CachingBehavior: CustomStringConvertible, CustomReflectable {
  /// The name of the type.
  public var description: String { "CachingBehavior" }

  /// A mirror without children, so that `dump` of a client shows nothing that is stored or under way.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
