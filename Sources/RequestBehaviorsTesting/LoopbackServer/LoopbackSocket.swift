import Dispatch
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The few system calls that the server makes, with the same behavior on all platforms.
///
/// They send no signal, are not interrupted, and do not let child processes inherit descriptors.
enum LoopbackSocket {
  static func message(for code: Int32) -> String { strerror(code).map { String(cString: $0) } ?? "an unknown error" }

  /// Opens a socket that listens on 127.0.0.1 and returns it with its port.
  static func listen(port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
    let (descriptor, port) = try open(port: port)
    // The system's own upper bound applies (SOMAXCONN).
    if systemListen(descriptor, 4_096) == 0 { return (descriptor, port) }
    let code = errno
    close(descriptor)
    throw LoopbackError(call: "listen", code: code)
  }

  /// Keeps the system from giving the port to another process, while connections to it are refused; `nil` if it cannot.
  ///
  /// On Linux a program that asks for this very port still gets it, as a restarted server does. Elsewhere it would not.
  static func reserve(_ port: UInt16) -> Int32? {
    #if canImport(Darwin)
      nil
    #else
      try? open(port: port).descriptor
    #endif
  }

  /// Opens a socket that is bound to a port of 127.0.0.1.
  private static func open(port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #elseif canImport(Musl) || canImport(Android)
      let descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw LoopbackError(call: "socket", code: errno) }
    do {
      closeOnExec(descriptor)
      // A restarted server must get its port although old connections linger on it.
      set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
      setNonBlocking(descriptor)
      return (descriptor, try bind(descriptor, to: port))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func bind(_ descriptor: Int32, to port: UInt16) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    #if canImport(Darwin)
      address.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    #endif
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // Port 0 lets the system choose a port, so the port is read back.
    let (bound, named) = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        let bound = systemBind(descriptor, pointer, length)
        if bound != 0 { return (errno, Int32(0)) }
        return (Int32(0), getsockname(descriptor, pointer, &length) == 0 ? 0 : errno)
      }
    }
    guard bound == 0 else {
      throw LoopbackError(
        call: "bind", code: bound, remedy: "Port \(port) may be in use; port 0 lets the system choose.")
    }
    guard named == 0 else { throw LoopbackError(call: "getsockname", code: named) }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Accepts a connection; `nil` if there are no more, -1 if the system is out of descriptors.
  static func accept(_ listener: Int32) -> Int32? {
    let descriptor = systemAccept(listener)
    guard descriptor >= 0 else {
      return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? -1 : nil
    }
    closeOnExec(descriptor)
    #if canImport(Darwin)
      // Unlike on Linux, the flags of the listener are inherited.
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
      set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
    #endif
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    return descriptor
  }

  /// Reads the available bytes, and waits for the first one; returns 0 at the end of file, -1 on an error.
  static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count >= 0 || errno != EINTR { return count }
    }
  }

  /// Sends all bytes; returns false if the connection has gone.
  static func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var sent = 0
    while sent < bytes.count {
      let count = systemSend(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, flags)
      if count > 0 { sent += count } else if count == 0 || errno != EINTR { return false }
    }
    return true
  }

  /// Waits until a descriptor is readable or broken, and returns which descriptors are.
  ///
  /// It waits for at most a number of milliseconds, or without a limit for -1.
  static func poll(_ descriptors: [(descriptor: Int32, reads: Bool)], milliseconds: Int32) -> [Bool] {
    var entries = descriptors.map { pollfd(fd: $0.descriptor, events: $0.reads ? Int16(POLLIN) : 0, revents: 0) }
    let deadline = milliseconds < 0 ? nil : DispatchTime.now().uptimeNanoseconds + UInt64(milliseconds) * 1_000_000
    var (left, count) = (milliseconds, systemPoll(&entries, nfds_t(entries.count), milliseconds))
    while count < 0, errno == EINTR {
      let now = DispatchTime.now().uptimeNanoseconds
      if let deadline { left = deadline > now ? Int32((deadline - now + 999_999) / 1_000_000) : 0 }
      count = systemPoll(&entries, nfds_t(entries.count), left)
    }
    return entries.map { count > 0 && $0.revents != 0 }
  }

  static func shutdownBoth(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  static func shutdownWriting(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the coming `close` send a reset instead of an orderly end.
  static func setReset(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// Closes a descriptor.
  ///
  /// It is not closed again after EINTR: it has gone then, and its number may belong to another file.
  static func close(_ descriptor: Int32) { _ = systemClose(descriptor) }

  static func makePipe() throws -> (readEnd: Int32, writeEnd: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw LoopbackError(call: "pipe", code: errno) }
    for end in ends {
      closeOnExec(end)
      setNonBlocking(end)
    }
    return (ends[0], ends[1])
  }

  static func writeByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    // A full pipe is readable anyway.
    while write(descriptor, &byte, 1) < 0 && errno == EINTR {}
  }

  static func drainPipe(_ descriptor: Int32) {
    var bytes: (UInt64, UInt64) = (0, 0)
    while read(descriptor, &bytes, 16) > 0 || errno == EINTR { errno = 0 }
  }

  private static func closeOnExec(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

  private static func setNonBlocking(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    _ = setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

// The members above have the names of the system's functions.
private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }

private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  bind(descriptor, address, length)
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
  send(descriptor, bytes, count, flags)
}

private func systemPoll(_ entries: inout [pollfd], _ count: nfds_t, _ milliseconds: Int32) -> Int32 {
  poll(&entries, count, milliseconds)
}

private func systemAccept(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }

/// A pipe with which any thread ends the `poll` of another one.
final class LoopbackWaker: Sendable {
  /// The end that becomes readable after ``wake()``.
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws { (readEnd, writeEnd) = try LoopbackSocket.makePipe() }

  deinit {
    LoopbackSocket.close(readEnd)
    LoopbackSocket.close(writeEnd)
  }

  func wake() { LoopbackSocket.writeByte(writeEnd) }

  /// Removes all wake-ups so far.
  func clear() { LoopbackSocket.drainPipe(readEnd) }
}
