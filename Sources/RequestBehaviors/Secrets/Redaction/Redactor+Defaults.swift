extension Redactor {
  /// The headers whose values are shown by default.
  public static let defaultAllowedHeaders: Set<String> = [
    "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Age", "Allow",
    "Cache-Control", "Connection", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range",
    "Content-Type", "Date", "Deprecation", "ETag", "Expect", "Expires", "Host", "If-Match", "If-Modified-Since",
    "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive", "Last-Modified", "Pragma", "Prefer",
    "Preference-Applied", "Range", "RateLimit", "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining",
    "RateLimit-Reset", "Request-ID", "Retry-After", "Server", "Server-Timing", "Strict-Transport-Security", "Sunset",
    "TE", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "Via",
    "X-Cache",
    "X-Correlation-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-ID",
  ]

  /// The query items whose values are shown by default.
  public static let defaultAllowedQueryNames: Set<String> = [
    "direction", "fields", "format", "include", "lang", "language", "limit", "locale", "offset", "order", "page",
    "page_size", "pageSize", "per_page", "perPage", "sort", "sort_by", "sortBy",
  ]

  /// The fields that are hidden in bodies and text by default.
  public static let defaultSensitiveFields: Set<String> = [
    "access_code", "access_key", "account_key", "activation_code", "api_key", "apikey", "app_key", "application_key",
    "assertion", "auth", "auth_code", "auth_key", "authorization", "authorization_code", "backup_code",
    "backup_codes", "bearer", "card_number", "client_key", "code_verifier", "confirmation_code", "connection_string",
    "consumer_key", "cookie", "cookies", "credential", "credentials", "credit_card", "csrf", "cvc", "cvv",
    "device_code",
    "dpop", "oob_code",
    "encryption_key", "hmac", "jwt", "license_key", "login_code", "master_key", "mfa_code", "nonce_secret",
    "oauth_nonce", "oauth_verifier", "one_time_code", "otp", "pass", "passcode", "passphrase", "passwd", "password",
    "password_confirmation", "password_hash", "passwords", "pin", "private_key", "pwd", "recovery_code",
    "recovery_codes", "reset_code", "saml_response", "secret", "secret_key", "secrets", "security_code",
    "request_uri", "service_key", "session", "session_handle", "session_id", "shared_key", "sid", "sig", "signature",
    "signing_key", "sms_code", "ssn", "subscription_key", "token", "totp", "two_factor_code", "user_code", "user_key",
    "verification_code", "verification_uri_complete", "verification_url_complete", "xsrf",
  ]

  /// Returns whether the name of a header field means a credential.
  ///
  /// Examples are `Authorization`, `Proxy-Authorization`, `Cookie`, `X-API-Key` and `X-Auth-Token`.
  ///
  /// - Parameter name: The name, in any case.
  /// - Returns: Whether the name is, or ends in, one of ``defaultSensitiveFields``.
  public static func isCredentialField(_ name: String) -> Bool { standard.isSensitive(field: name) }

  /// Returns whether the name of a header field means a credential.
  static func isCredentialField(_ name: some Collection<UInt8>) -> Bool { standard.rules.isSensitive(field: name) }
}
