import RequestBehaviors

/// The header fields of a response that are stored, and their updates by a later response (RFC 9111 §3.1, §3.2).
enum StoredFields {
  /// Returns the fields of a response that may be stored.
  ///
  /// Fields of the connection and of proxies are left out, and so are the fields that `Connection` lists. Fields that
  /// `no-cache` lists are left out because no later request may get them (RFC 9111 §5.2.2.4).
  static func stored(of headers: HeaderFields) -> HeaderFields {
    let omitted = omittedNames(of: headers)
    var kept = headers
    kept.removeAll { field in omitted.contains(field.name.lowercased()) }
    return kept
  }

  /// Returns the stored fields with the updates of a 304, or of a response to a HEAD (RFC 9111 §3.2).
  ///
  /// Each field of the newer response replaces all stored fields of its name. The fields that describe the stored bytes
  /// stay: a mistake of the server there would make the bytes unreadable.
  static func updated(_ stored: HeaderFields, by newer: HeaderFields) -> HeaderFields {
    var fields = StoredFields.stored(of: newer)
    fields.removeAll { field in kept.contains(field.name.lowercased()) }
    // An `Age` belongs to one response, so that of the older response does not apply any more.
    var merged = stored
    merged.remove("Age")
    merged.merge(fields)
    // The fields that the newer `no-cache` lists must not be used again either (RFC 9111 §5.2.2.4).
    for name in CacheControl(merged).fieldNames("no-cache") { merged.remove(name) }
    return merged
  }

  /// Returns the fields of a 304 that is made of a stored response (RFC 9110 §15.4.5).
  static func ofNotModified(_ stored: HeaderFields) -> HeaderFields {
    var fields = stored
    fields.removeAll { field in kept.contains(field.name.lowercased()) }
    return fields
  }

  private static func omittedNames(of headers: HeaderFields) -> Set<String> {
    var names = connectionFields
    if let listed = headers["Connection"] { names.formUnion(FieldList.members(of: listed).map { $0.lowercased() }) }
    names.formUnion(CacheControl(headers).fieldNames("no-cache"))
    return names
  }

  /// The fields that describe the bytes of the stored body.
  private static let kept: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]

  private static let connectionFields: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
    "proxy-authentication-info", "proxy-authorization", "trailer",
  ]
}
