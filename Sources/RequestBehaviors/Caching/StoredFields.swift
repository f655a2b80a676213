/// Which header fields of a response are stored, and how a later response changes them (RFC 9111 §3.1, §3.2).
enum StoredFields {
  /// Returns the fields of a response that may be stored.
  ///
  /// Left out are those that belong to the connection, those that `Connection` lists, those of proxies, and those that
  /// `no-cache` lists, which no later request may get (RFC 9111 §5.2.2.4).
  static func stored(of headers: HeaderFields) -> HeaderFields {
    let omitted = omittedNames(of: headers)
    var kept = headers
    kept.removeAll { field in omitted.contains(field.name.lowercased()) }
    return kept
  }

  /// Returns the stored fields as a 304, or a response to a HEAD, changes them (RFC 9111 §3.2).
  ///
  /// Each field of the newer response replaces all of its name, but for what describes the stored bytes: a server's
  /// mistake there would make them unreadable.
  static func updated(_ stored: HeaderFields, by newer: HeaderFields) -> HeaderFields {
    var fields = StoredFields.stored(of: newer)
    fields.removeAll { field in kept.contains(field.name.lowercased()) }
    // An age is of its response: that of the older one is in the terms no more.
    var merged = stored
    merged.remove("Age")
    merged.merge(fields)
    // What `no-cache` lists from now on must not be used again either (RFC 9111 §5.2.2.4).
    for name in CacheControl(merged).fieldNames("no-cache") { merged.remove(name) }
    return merged
  }

  /// Returns the fields that a 304 made of a stored response has (RFC 9110 §15.4.5).
  static func ofNotModified(_ stored: HeaderFields) -> HeaderFields {
    var fields = stored
    fields.removeAll { field in kept.contains(field.name.lowercased()) }
    return fields
  }

  private static func omittedNames(of headers: HeaderFields) -> Set<String> {
    var names = connectionFields
    if let listed = headers["Connection"] { names.formUnion(QuotedList.members(of: listed).map { $0.lowercased() }) }
    names.formUnion(CacheControl(headers).fieldNames("no-cache"))
    return names
  }

  /// What describes the bytes of the stored body.
  private static let kept: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]

  private static let connectionFields: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade", "proxy-authenticate",
    "proxy-authentication-info", "proxy-authorization", "trailer",
  ]
}
