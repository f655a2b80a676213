import Foundation
import RequestBehaviors

/// One response of a stub.
struct MockResponse: Sendable {
  enum Kind: Sendable {
    case response(Int, HeaderFields, Data)
    case stream(Int, HeaderFields, [MockStreamStep], trailers: HeaderFields?)
    case failure(any Error)
    case closure(@Sendable (NetworkRequest) async throws -> NetworkResponse)
  }

  let kind: Kind
  var delay: Duration = .zero
  /// The number of times it is sent; `nil` for once, or without end if it is the last response.
  var limit: Int?
  var given = 0
}
