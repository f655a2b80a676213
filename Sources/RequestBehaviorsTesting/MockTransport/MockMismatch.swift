/// The reason why a stub does not respond to a request.
struct MockMismatch: Error { let reason: String }
