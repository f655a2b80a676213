#if !os(Windows) && !os(WASI)
  import Foundation
  import RequestBehaviors

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// The system calls of a listener on this machine's own address; no descriptor blocks or is inherited.
  enum LoopbackSystem {
    /// The most octets of a page: a response is sent at once, into the system's buffer, or it would be cut off.
    static let sendLimit = 64 * 1_024

    /// Opens a listener on 127.0.0.1, or where there is no IPv4, on ::1.
    ///
    /// - Returns: The descriptor and the host and port for a URL.
    /// - Throws: `NetworkError` of code `oauth2InvalidServer`, which names the port.
    static func listen(port: UInt16) throws -> (descriptor: Int32, host: String, port: UInt16) {
      do {
        let (descriptor, port) = try open(AF_INET, port)
        return (descriptor, "127.0.0.1", port)
      } catch let error as Failure where error.isNoAddress {
        let (descriptor, port) = try open(AF_INET6, port)
        return (descriptor, "[::1]", port)
      } catch let error as Failure {
        throw error.asNetworkError(port)
      }
    }

    private struct Failure: Error {
      let call: String
      let number: Int32

      /// Whether the machine has no address of the family.
      var isNoAddress: Bool { [EAFNOSUPPORT, EADDRNOTAVAIL, EPROTONOSUPPORT].contains(number) }

      func asNetworkError(_ port: UInt16) -> NetworkError {
        let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        let remedy = port == 0 ? "" : "; port \(port) may be in use"
        return NetworkError.invalidServer("no redirect URI of this machine: \(call): \(reason)\(remedy)")
      }
    }

    private static func open(_ family: Int32, _ port: UInt16) throws -> (Int32, UInt16) {
      #if canImport(Glibc)
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
      #else
        let descriptor = socket(family, SOCK_STREAM, 0)
      #endif
      guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
      prepare(descriptor)
      var option: Int32 = 1
      #if !canImport(Darwin)
        // A port of a former run may linger; another listener on it is an error all the same.
        _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &option, socklen_t(MemoryLayout<Int32>.size))
      #endif
      if family == AF_INET6 {
        _ = setsockopt(
          descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &option, socklen_t(MemoryLayout<Int32>.size))
      }
      do {
        let port = try family == AF_INET6 ? bind6(descriptor, port) : bind4(descriptor, port)
        guard systemListen(descriptor, 64) == 0 else { throw Failure(call: "listen", number: errno) }
        return (descriptor, port)
      } catch {
        close(descriptor)
        throw error
      }
    }

    private static func bind4(_ descriptor: Int32, _ port: UInt16) throws -> UInt16 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      #if canImport(Darwin)
        address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
      #endif
      try bind(descriptor, &address)
      return UInt16(bigEndian: address.sin_port)
    }

    private static func bind6(_ descriptor: Int32, _ port: UInt16) throws -> UInt16 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      #if canImport(Darwin)
        address.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
      #endif
      try bind(descriptor, &address)
      return UInt16(bigEndian: address.sin6_port)
    }

    /// Binds, and reads back the address with the port that the system chose.
    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) throws {
      var length = socklen_t(MemoryLayout<Address>.size)
      let failure = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Failure? in
          if systemBind(descriptor, pointer, length) != 0 { return Failure(call: "bind", number: errno) }
          return getsockname(descriptor, pointer, &length) == 0 ? nil : Failure(call: "getsockname", number: errno)
        }
      }
      if let failure { throw failure }
    }

    /// The result of accepting a connection.
    enum Acceptance {
      case connection(Int32)
      /// No connection waits any more.
      case none
      /// A connection waits, and the system has no descriptor for it.
      case exhausted
    }

    /// Accepts a connection.
    static func accept(_ listener: Int32) -> Acceptance {
      let descriptor = systemAccept(listener)
      guard descriptor >= 0 else {
        return [EAGAIN, EINTR, ECONNABORTED].contains(errno) ? .none : .exhausted
      }
      prepare(descriptor)
      var size = Int32(2 * sendLimit)
      _ = setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      return .connection(descriptor)
    }

    private static func prepare(_ descriptor: Int32) {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      #if canImport(Darwin)
        var option: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &option, socklen_t(MemoryLayout<Int32>.size))
      #endif
    }

    /// Returns the octets that have come; empty at the end, `nil` if no octet has come yet.
    static func receive(_ descriptor: Int32) -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 { return errno == EAGAIN || errno == EINTR ? nil : [] }
      return Array(buffer.prefix(count))
    }

    /// Sends octets that fit in the system's buffer, and ends the sending side.
    static func send(_ descriptor: Int32, _ octets: [UInt8]) {
      #if canImport(Darwin)
        let flags: Int32 = 0
      #else
        let flags = Int32(MSG_NOSIGNAL)
      #endif
      var sent = 0
      while sent < octets.count {
        let count = octets[sent...].withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, flags) }
        guard count > 0 else { break }
        sent += count
      }
      _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Waits until a descriptor is readable or broken; returns which are.
    static func poll(_ descriptors: [Int32], milliseconds: Int32) -> [Bool] {
      var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let count = systemPoll(&entries, nfds_t(entries.count), milliseconds)
      return entries.map { count > 0 && $0.revents != 0 }
    }

    static func close(_ descriptor: Int32) { _ = systemClose(descriptor) }

    /// Makes the other end of a pipe readable.
    static func wake(_ end: Int32) {
      var octet: UInt8 = 1
      _ = write(end, &octet, 1)
    }

    /// Returns the two ends of a pipe.
    static func pipe() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      guard systemPipe(&ends) == 0 else { throw Failure(call: "pipe", number: errno).asNetworkError(0) }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      }
      return (ends[0], ends[1])
    }
  }

  // The members above have the names of the system's functions.
  private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
  private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
  private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
  private func systemPipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
  private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
  }
  private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
  }
  private func systemPoll(_ entries: inout [pollfd], _ count: nfds_t, _ milliseconds: Int32) -> Int32 {
    poll(&entries, count, milliseconds)
  }
#endif
