#if os(Linux)
  import Foundation
  import RequestBehaviors
  import RequestBehaviorsCurl
  import RequestBehaviorsTesting
  import TestSupport

  /// Gets responses that were changed at random, and looks for successes that are none.
  ///
  /// Which response a request gets follows from the number in its path.
  struct Fuzz: Sendable {
    /// What a response became.
    struct Mutation {
      var bytes: [UInt8]
      /// Whether the end of it is missing, so that it must not succeed.
      var isCutOff = false
    }

    /// The response of a number.
    static func mutation(_ number: Int) -> Mutation {
      var generator = SeededGenerator(seed: UInt64(number))
      let original = originals[number % originals.count]
      var mutation = Mutation(bytes: Array(original.utf8))
      if Int.random(in: 0..<3, using: &generator) == 0 {
        let count = Int.random(in: 1..<mutation.bytes.count, using: &generator)
        mutation.bytes.removeLast(count)
        // The line feed after the last chunk does without.
        mutation.isCutOff = count > 1 || !original.hasSuffix("\r\n\r\n")
        return mutation
      }
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let position = Int.random(in: 0..<mutation.bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: mutation.bytes[position] = UInt8.random(in: 0...255, using: &generator)
        case 1: mutation.bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: mutation.bytes.remove(at: position)
        case 3: mutation.bytes.insert(UInt8(ascii: "\r"), at: position)
        case 4: mutation.bytes.insert(UInt8(ascii: "\n"), at: position)
        default:
          let end = min(position + Int.random(in: 1...40, using: &generator), mutation.bytes.count)
          mutation.bytes.insert(contentsOf: mutation.bytes[position..<end], at: position)
        }
        if mutation.bytes.isEmpty { mutation.bytes = [0] }
      }
      return mutation
    }

    private static let originals = [
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nA;x=y\r\nfghijklmno\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
      "HTTP/1.1 204 No Content\r\nX-A: 1\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n",
      "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 5\r\n\r\nmoved",
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 2\r\n\r\nno",
      "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\nX-Bare: 1\n folded: 2\nContent-Length: 3\n\nabc",
    ]

    func run(_ count: Int) async throws {
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        .raw(Fuzz.mutation(Int(request.path.dropFirst()) ?? 0).bytes)
      }
      let transport = CurlTransport()
      let endings = try await withThrowingTaskGroup(of: (successes: Int, wrong: [Int]).self) { group in
        for lane in 0..<16 {
          group.addTask {
            var ending = (successes: 0, wrong: [Int]())
            for number in stride(from: lane, to: count, by: 16) {
              switch try await check(number, server.baseURL, transport) {
              case .failure: break
              case .success: ending.successes += 1
              case .wrong: ending.wrong.append(number)
              }
            }
            return ending
          }
        }
        return try await group.reduce((successes: 0, wrong: [Int]())) {
          ($0.successes + $1.successes, $0.wrong + $1.wrong)
        }
      }
      print(endings.wrong.isEmpty ? "no wrong success" : "wrong: \(endings.wrong.sorted().prefix(20))")
      print("\(endings.successes) of \(count) succeeded")
    }

    /// Prints a response and what becomes of it.
    func show(_ number: Int) async throws {
      let mutation = Fuzz.mutation(number)
      let server = try LoopbackServer { _ in .raw(mutation.bytes) }
      let text = String(decoding: mutation.bytes, as: UTF8.self)
      print("\(text.debugDescription)\(mutation.isCutOff ? ", cut off" : "")")
      do {
        let response = try await CurlTransport().send(NetworkRequest(url: server.baseURL))
        print(response.statusCode, try response.text.debugDescription)
      } catch {
        print(error)
      }
    }

    private enum Ending { case failure, success, wrong }

    private func check(_ number: Int, _ base: URL, _ transport: CurlTransport) async throws -> Ending {
      var options = RequestOptions()
      options.idleTimeout = .seconds(10)
      if number % 4 == 0 { options.delivery = .streamed }
      let request = NetworkRequest(url: base.appending(path: "\(number)"), options: options)
      do {
        let response = try await transport.send(request).buffered()
        let mutation = Fuzz.mutation(number)
        let isJustified = try !mutation.isCutOff && Fuzz.justifies(mutation.bytes, response, response.data)
        return isJustified ? .success : .wrong
      } catch let error as NetworkError {
        // It must be an error of the server's making, soon.
        return [.timedOut, .transportFailed, .tlsFailed].contains(error.code) ? .wrong : .failure
      }
    }

    /// Whether a response is in the bytes that came.
    private static func justifies(_ bytes: [UInt8], _ response: NetworkResponse, _ body: Data) -> Bool {
      let all = Data(bytes)
      guard all.range(of: Data(" \(response.statusCode)".utf8)) != nil else { return false }
      if response.headers.contains("Content-Encoding") { return true }
      if response.headers.contains("Transfer-Encoding") {
        // The chunks are in it, in their order.
        var rest = bytes[...]
        return body.allSatisfy { byte in
          guard let index = rest.firstIndex(of: byte) else { return false }
          rest = rest[(index + 1)...]
          return true
        }
      }
      if let length = response.headers["Content-Length"], response.statusCode != 204, response.statusCode != 304 {
        guard Int(length.split(separator: ",")[0].filter { $0 != " " }) == body.count else { return false }
      }
      return body.isEmpty || all.range(of: body) != nil
    }
  }
#endif
