// Printing, dumping or debugging a value that may contain a secret shows it as the standard redactor does.

extension Redactor: CustomReflectable {
  /// The lists of names, without the known secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "allowedHeaders": allowedHeaders, "allowedQueryNames": allowedQueryNames, "sensitiveFields": sensitiveFields,
        "sensitivePointers": sensitivePointers,
      ])
  }
}

extension HeaderFields: CustomReflectable {
  /// The fields with every value hidden that is not known to be harmless.
  public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}

extension HeaderFields.Field: CustomStringConvertible, CustomReflectable {
  /// Name and value, the latter hidden unless it is known to be harmless.
  public var description: String { "\(name): \(Redactor.standard.redactedValue(of: self))" }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension NetworkRequest: CustomReflectable {
  /// Method, URL, fields and body, with secrets hidden.
  public var customMirror: Mirror {
    let shown = Redactor.standard.hiding(secretsOf: self).redact(headers)
    return Mirror(self, children: ["description": description, "headers": shown, "body": body as Any])
  }
}

extension NetworkResponse: CustomReflectable {
  /// Status, request, fields and body, with secrets hidden.
  public var customMirror: Mirror {
    let shown = Redactor.standard.hiding(secretsOf: self).redact(headers)
    return Mirror(self, children: ["description": description, "headers": shown, "body": body])
  }
}

extension RequestBody: CustomStringConvertible, CustomReflectable {
  /// Length and type, such as `12 bytes of image/png`.
  public var description: String {
    "\(length.map { "\($0) bytes" } ?? "a stream or file") of \(contentType ?? "unknown type")"
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ResponseBody: CustomStringConvertible, CustomReflectable {
  /// Length and kind, such as `12 bytes`.
  public var description: String {
    switch self {
    case .data(let data): "\(data.count) bytes"
    case .file: "a file"
    case .stream: "a stream"
    }
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension RequestContent: CustomStringConvertible, CustomReflectable {
  /// A text that shows nothing of the content.
  public var description: String { "RequestContent" }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Request: CustomStringConvertible, CustomReflectable {
  /// The method, the path with its interpolated values, and the names in the query.
  public var description: String {
    switch target {
    case .path(let path): "\(method) \(Redactor.standard.redact(urlReference: path.encoded))"
    case .url(let url, _): "\(method) \(Redactor.standard.redact(url))"
    }
  }

  /// The description and the fields, with secrets hidden.
  public var customMirror: Mirror { Mirror(self, children: ["description": description, "headers": headers]) }
}

extension Query: CustomStringConvertible, CustomReflectable {
  /// The items as they are shown in URLs, such as `page=2&token=REDACTED`.
  public var description: String { items.map(\.description).joined(separator: "&") }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Query.Item: CustomStringConvertible, CustomReflectable {
  /// Name and value as they are shown in URLs.
  public var description: String {
    let item = "\(PercentEncoding.escape(name))=\(PercentEncoding.escape(value))"
    return String(Redactor.standard.redact(urlReference: "?" + item).dropFirst())
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension ServerEnvironment: CustomStringConvertible, CustomReflectable {
  /// The base URL, with secrets hidden.
  public var description: String { Redactor.standard.redact(baseURL) }

  /// The description and the fields, with secrets hidden.
  public var customMirror: Mirror {
    Mirror(self, children: ["description": description, "headers": headers, "query": query])
  }
}

extension Attempt: CustomReflectable {
  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension Call: CustomStringConvertible, CustomReflectable {
  /// The number of the call, such as `call 12`.
  public var description: String { "call \(id)" }

  /// The description and the sends, with secrets hidden; the values that behaviors store are not shown.
  public var customMirror: Mirror { Mirror(self, children: ["description": description, "attempts": attempts]) }
}

extension CallSecrets: CustomStringConvertible, CustomReflectable {
  /// A text that shows none of the secrets.
  public var description: String { "CallSecrets" }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension CallReport: CustomStringConvertible, CustomReflectable {
  /// The call, its request and its outcome, with secrets hidden.
  public var description: String {
    let redactor =
      request.map { Redactor.standard.hiding(secretsOf: $0) } ?? Redactor.standard.hiding(secretsOf: call)
    let outcome = error.map { redactor.redact(text: "\($0)") } ?? response.map { "\($0.statusCode)" }
    return "\(call): \(request.map { "\($0)" } ?? "no request"): \(outcome ?? "no response")"
  }

  /// Only the description.
  public var customMirror: Mirror { Mirror(self, children: ["description": description, "response": response as Any]) }
}

extension RequestOptions: CustomReflectable {
  /// A mirror without children: an option may hold a secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension NetworkClient: CustomStringConvertible, CustomReflectable {
  /// The name of the type and the base URL, with secrets hidden.
  public var description: String {
    "NetworkClient(\(configuration.options.environment.map { "\($0)" } ?? "no base URL"))"
  }

  /// Only the description: behaviors and transports may hold secrets.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
