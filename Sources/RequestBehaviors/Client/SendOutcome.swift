/// How the latest send of a call ended, for the error that refuses a further one.
enum SendOutcome: Sendable {
  case response(NetworkResponse)
  case failure(any Error)

  var isCancellation: Bool {
    if case .failure(let error) = self { error is CancellationError } else { false }
  }
}
