import Foundation
import RequestBehaviors
import RequestBehaviorsTesting

extension TransportProbe {
  /// Downloads beside uploads, 24 at a time, and prints how many of the downloads are right.
  ///
  /// - Parameters:
  ///   - text: The URL of a server, which has a file `packed` and takes uploads at `buffered/`.
  ///   - count: The number of downloads of each task.
  /// - Throws: An error if a request fails.
  static func mix(at text: String, _ count: Int) async throws {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    let client = NetworkClient(baseURL: url, behaviors: [.retry()])
    // Nothing is sent beside this one.
    let content: Data = try await client.send(.get("packed"))
    let right = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<24 {
        group.addTask {
          var right = 0
          for _ in 0..<count {
            let pieces = Array(repeating: Data(repeating: 0x61, count: 60_000), count: 15)
            async let upload: Void = client.send(.put("buffered/", body: .stream { ByteStream(chunks: pieces) }))
            let data: Data = try await client.send(.get("packed"))
            if data == content { right += 1 }
            try await upload
          }
          return right
        }
      }
      return try await group.reduce(0, +)
    }
    print("\(right) of \(24 * count)")
  }
}
