#if os(Linux)
  import Foundation
  public import RequestBehaviors
  import RequestBehaviorsTesting

  /// Gets responses that were changed at random, and compares what becomes of each with what RFC 9112 takes it for.
  ///
  /// Which response a request gets follows from the number in its path, and its body names the number.
  public struct ResponseFuzz: Sendable {
    private let transport: any Transport
    private let isSurvivable: @Sendable (Int, WireReading) -> Bool

    /// Creates a fuzz of a transport.
    ///
    /// - Parameters:
    ///   - transport: What gets the responses.
    ///   - isSurvivable: Whether the process outlives a response over the transport; others are left out.
    public init(
      _ transport: any Transport, isSurvivable: @escaping @Sendable (Int, WireReading) -> Bool = { _, _ in true }
    ) {
      self.transport = transport
      self.isSurvivable = isSurvivable
    }

    /// Gets as many responses, sixteen at a time, and prints which of them ended wrongly.
    public func run(_ count: Int) async throws {
      let server = try LoopbackServer(options: .init(recordsRequests: false)) { request in
        let number = Int(request.path.dropFirst()) ?? 0
        return .raw(ResponseFuzz.response(number), closes: ResponseFuzz.closes(number))
      }
      let endings = try await withThrowingTaskGroup(of: (successes: Int, wrong: [Int: String]).self) { group in
        for lane in 0..<16 {
          group.addTask {
            var ending = (successes: 0, wrong: [Int: String]())
            for number in stride(from: lane, to: count, by: 16) {
              let (isSuccess, fault) = try await check(number, server.baseURL)
              if isSuccess { ending.successes += 1 }
              if let fault { ending.wrong[number] = fault }
            }
            return ending
          }
        }
        return try await group.reduce((successes: 0, wrong: [:])) {
          ($0.successes + $1.successes, $0.wrong.merging($1.wrong) { $1 })
        }
      }
      print(endings.wrong.isEmpty ? "no wrong outcome" : "\(endings.wrong.count) wrong outcomes")
      for (number, fault) in endings.wrong.sorted(by: { $0.key < $1.key }).prefix(20) { print(number, fault) }
      print("\(endings.successes) of \(count) succeeded")
    }

    /// Prints a response, what it is, and what becomes of it.
    public func show(_ number: Int) async throws {
      let bytes = ResponseFuzz.response(number)
      print(String(decoding: bytes, as: UTF8.self).debugDescription, ResponseFuzz.closes(number) ? "closed" : "open")
      print(ResponseFuzz.reading(number))
      let server = try LoopbackServer { _ in .raw(bytes, closes: ResponseFuzz.closes(number)) }
      do {
        let response = try await transport.send(ResponseFuzz.request(number, server.baseURL)).buffered()
        print(response.statusCode, response.headers, try response.text.debugDescription)
      } catch {
        print(error)
      }
    }

    /// Whether the server closes the connection after a response.
    ///
    /// It leaves some open whose end is certain, so that bytes after them meet the next request.
    private static func closes(_ number: Int) -> Bool {
      guard number % 2 == 0, case .response(let message) = reading(number) else { return true }
      return message.field("content-length") == nil && message.field("transfer-encoding") == nil
    }

    private static func request(_ number: Int, _ base: URL) -> NetworkRequest {
      var options = RequestOptions()
      options.idleTimeout = .seconds(20)
      if number % 4 == 0 { options.delivery = .streamed }
      return NetworkRequest(
        number % 7 == 0 ? .head : .get, url: base.appending(path: "\(number)"),
        // Without it the transport decodes, and the reading does not.
        headers: ["Accept-Encoding": "identity, *;q=0"], options: options)
    }

    static func reading(_ number: Int) -> WireReading { WireReading(response(number), isHead: number % 7 == 0) }

    /// Gets a response; returns whether it was one, and what is wrong about the outcome.
    private func check(_ number: Int, _ base: URL) async throws -> (isSuccess: Bool, fault: String?) {
      let reading = ResponseFuzz.reading(number)
      guard isSurvivable(number, reading) else { return (false, nil) }
      do {
        let response = try await transport.send(ResponseFuzz.request(number, base)).buffered()
        return (true, try fault(of: response, reading))
      } catch let error as NetworkError {
        return (false, fault(of: error, reading))
      }
    }
  }
#endif
