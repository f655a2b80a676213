import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct ValidationTests {
  private func failure(_ request: NetworkRequest) -> NetworkError? {
    #expect(throws: NetworkError.self) { try request.validate() }
  }

  @Test(arguments: ["", "GE T", "GET\r\n", "GET\u{0}", "GÉT", "GET/"])
  func `an invalid method is refused`(method: String) {
    #expect(
      failure(NetworkRequest(RequestMethod(rawValue: method), url: baseURL))?.message.contains("the method") == true)
  }

  @Test(arguments: ["", "X Y", "X\r\nInjected", "X:", "X\u{0}", "Ünder"])
  func `an invalid header name is refused`(name: String) {
    let error = failure(NetworkRequest(url: baseURL, headers: HeaderFields([.init(name, "v")])))
    #expect(error?.code == .invalidRequest)
    #expect(error?.message.contains("the header name") == true)
  }

  @Test(arguments: ["a\r\nX-Injected: 1", "a\nb", "a\rb", "a\u{0}b", " a", "a ", "a\t", "\u{7F}", "a\u{1B}b"])
  func `a header value with a control character or an outer space is refused, and not shown`(value: String) {
    let error = failure(NetworkRequest(url: baseURL, headers: HeaderFields([.init("X-Key", value)])))
    #expect(error?.message.contains("the header X-Key") == true)
    #expect(error?.message.contains("Injected") == false)
  }

  @Test(arguments: ["", "a b", "a\tb", "é", "👍"])
  func `an ordinary header value is accepted`(value: String) throws {
    try NetworkRequest(url: baseURL, headers: HeaderFields([.init("X-Key", value)])).validate()
    #expect(Bool(true))
  }

  @Test(arguments: ["Content-Length", "transfer-encoding", "HOST"])
  func `framing headers are refused unless they are allowed`(name: String) throws {
    var request = NetworkRequest(.post, url: baseURL, headers: HeaderFields([.init(name, "5")]))
    #expect(failure(request)?.message.contains("allowsFramingHeaders") == true)
    request.options.allowsFramingHeaders = true
    try request.validate()
  }

  @Test(arguments: [RequestMethod.get, .head, .trace])
  func `a method without body semantics with a body is refused`(method: RequestMethod) throws {
    #expect(failure(NetworkRequest(method, url: baseURL, body: .data(Data())))?.message.contains("has a body") == true)
    try NetworkRequest(.query, url: baseURL, body: .data(Data())).validate()
    try NetworkRequest(.delete, url: baseURL, body: .data(Data())).validate()
  }

  @Test func `the chain validates the request after the behaviors changed it`() async {
    let smuggle = ClosureBehavior("smuggle", headers: { _ in ["X": "a\r\nInjected: 1"] })
    let transport = ClosureTransport()
    let error = await #expect(throws: NetworkError.self) {
      try await NetworkClient(transport, [smuggle]).send(.get("x"))
    }
    #expect(error?.code == .invalidRequest)
    #expect(transport.sent.isEmpty)
  }
}
