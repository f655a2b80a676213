import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A blocking socket that shows what is on the wire; each call runs on a thread of its own, off the cooperative pool.
///
/// Calls on one client follow one another.
final class RawClient: Sendable {
  struct Failure: Error { let call: String, code: Int32 }

  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = RawClient.makeSocket()
    let result = RawClient.withAddress(port) { [descriptor] in connect(descriptor, $0, $1) }
    if result != 0 { throw Failure(call: "connect", code: errno) }
    #if canImport(Darwin)
      // Darwin has no flag of `send` for it: to write after the server has closed would end the tests.
      var isOn: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
    #endif
    // No step of these tests takes so long: a test that would hang fails instead.
    var limit = timeval(tv_sec: ThreadSanitizer.isRunning ? 100 : 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Takes a free port.
  init(takingPort port: UInt16) throws {
    descriptor = RawClient.makeSocket()
    let result = RawClient.withAddress(port) { [descriptor] in bind(descriptor, $0, $1) }
    if result != 0 { throw Failure(call: "bind", code: errno) }
  }

  private static func makeSocket() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
      if count <= 0 { throw Failure(call: "send", code: errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Closes this side of the connection for writing.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns exactly so many bytes.
  func read(_ count: Int) async throws -> String {
    String(decoding: try await readBytes(count), as: UTF8.self)
  }

  /// Returns everything up to the end of file.
  func readToEnd() async throws -> String { String(decoding: try await readBytes(nil), as: UTF8.self) }

  /// Returns a head, up to and with its empty line.
  func readHead() async throws -> String {
    try await off { [self] in
      var bytes: [UInt8] = []
      while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) { bytes += try receive(1, orMore: false) }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Sends a request and returns everything up to the end of file.
  func exchange(_ text: String) async throws -> String {
    try send(text)
    return try await readToEnd()
  }

  func readBytes(_ count: Int?) async throws -> [UInt8] {
    try await off { [self] in
      var bytes: [UInt8] = []
      while count == nil || bytes.count < count ?? 0 {
        do { bytes += try receive((count ?? 65_536 + bytes.count) - bytes.count, orMore: true) } catch let failure
          as Failure
          where failure.code == 0 && count == nil
        { break }
      }
      return bytes
    }
  }

  private func receive(_ count: Int, orMore: Bool) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = recv(descriptor, &buffer, count, 0)
    // Code 0 stands for the end of file.
    if received <= 0 { throw Failure(call: "recv", code: received == 0 ? 0 : errno) }
    return Array(buffer[..<received])
  }

  private func off<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  send(descriptor, bytes, count, flags)
}
