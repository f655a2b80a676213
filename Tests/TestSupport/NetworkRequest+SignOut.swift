import Foundation
package import RequestBehaviors

/// The error of a request whose user has signed out.
package struct UserHasLeft: Error {}

extension NetworkRequest {
  /// Returns the request with a stream as its body; the user of the request signs out while the stream is read.
  package func signingOutWhileRead() -> NetworkRequest {
    let hasLeft = Box(false)
    var request = self
    request.body = .stream {
      ByteStream(
        AsyncStream<Data> {
          hasLeft.value = true
          return nil
        })
    }
    request.call.addSendCheck { _ in if hasLeft.value { throw UserHasLeft() } }
    return request
  }
}
