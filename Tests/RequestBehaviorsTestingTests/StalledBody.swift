import RequestBehaviors
import RequestBehaviorsTesting
import TestSupport
import Testing

import struct Foundation.URL

/// Sends a request whose body stops in the middle, and returns the error with which it ends.
func errorOfStalledBody(
  over transport: any Transport, to url: URL, _ clock: ManualClock, endsByTimeout: Bool
) async throws -> NetworkError {
  let (source, reading) = (ChunkSource(), TestGate())
  let body = RequestBody.stream {
    reading.arrive()
    return source.stream
  }
  var options = RequestOptions()
  if endsByTimeout { options.timeout = .seconds(5) }
  let call = Call(clock: clock.requestClock, options: options)
  let request = NetworkRequest(.post, url: url, body: body, options: options, call: call)
  let sending = Task { try await transport.send(request) }
  await reading.waitForArrivals(1)
  if endsByTimeout {
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
  } else {
    await transport.shutdown()
  }
  return try await #require(throws: NetworkError.self) { try await sending.value }
}
