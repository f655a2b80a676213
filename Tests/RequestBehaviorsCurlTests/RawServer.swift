#if canImport(CRequestBehaviorsCurl)
  import Foundation
  @testable import RequestBehaviorsTesting

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// A server on 127.0.0.1 that says to each connection what a test wants, byte for byte.
  ///
  /// Each connection has a thread of its own, which may block. Releasing the server ends them.
  final class RawServer: Sendable {
    private let core: Core

    /// Creates a server that calls a closure with each connection, and closes it when the closure returns or throws.
    init(_ serve: @escaping @Sendable (Peer) throws -> Void) throws { core = try Core(serve) }

    deinit { core.stop() }

    var port: UInt16 { core.port }

    /// Returns when no connection is open any more, or the task is cancelled.
    func waitForEnd() async { await core.waitForEnd() }
  }

  extension RawServer {
    fileprivate final class Core: Sendable {
      private struct State {
        var isStopped = false
        var peers: [ObjectIdentifier: Peer] = [:]
      }

      let port: UInt16
      private let listener: Int32
      private let waker: LoopbackWaker
      private let serve: @Sendable (Peer) throws -> Void
      private let watchers = LoopbackWatchers()
      private let lock = NSLock()
      // Protected by `lock`.
      nonisolated(unsafe) private var state = State()

      init(_ serve: @escaping @Sendable (Peer) throws -> Void) throws {
        self.serve = serve
        waker = try LoopbackWaker()
        (listener, port) = try LoopbackSocket.listen(port: 0)
        Thread.detachNewThread { [self] in accept() }
      }

      private func accept() {
        while !lock.withLock({ state.isStopped }) {
          let isReadable = LoopbackSocket.poll([(listener, true), (waker.readEnd, true)], milliseconds: -1)
          guard isReadable[0] else { continue }
          while let descriptor = LoopbackSocket.accept(listener), descriptor >= 0 { begin(Peer(descriptor)) }
        }
        LoopbackSocket.close(listener)
      }

      private func begin(_ peer: Peer) {
        let isStopped = lock.withLock {
          state.peers[ObjectIdentifier(peer)] = peer
          return state.isStopped
        }
        if isStopped { peer.shutdown() }
        Thread.detachNewThread { [self] in
          try? serve(peer)
          peer.shutdown()
          lock.withLock { _ = state.peers.removeValue(forKey: ObjectIdentifier(peer)) }
          watchers.notify()
        }
      }

      func stop() {
        let peers = lock.withLock {
          state.isStopped = true
          return Array(state.peers.values)
        }
        waker.wake()
        for peer in peers { peer.shutdown() }
      }

      func waitForEnd() async {
        await watchers.wait { [self] in lock.withLock { state.peers.isEmpty } }
      }
    }
  }

  /// A connection, whose calls block.
  final class Peer: Sendable {
    /// The other side has left, or has sent unexpected bytes.
    struct Gone: Error {}

    private let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to a port of this machine.
    init(connectingTo port: UInt16) throws {
      #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
      #endif
      #if canImport(Darwin)
        // Darwin has no flag of `send` for it: a write to a closed connection would end the tests.
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if result != 0 { throw Gone() }
    }

    deinit { LoopbackSocket.close(descriptor) }

    /// Ends both directions from any thread.
    func shutdown() { LoopbackSocket.shutdownBoth(descriptor) }

    /// Returns exactly so many bytes.
    func read(_ count: Int) throws -> [UInt8] {
      var bytes: [UInt8] = []
      while bytes.count < count { bytes += try readSome(atMost: count - bytes.count) }
      return bytes
    }

    /// Returns what is there, waiting for the first byte.
    func readSome(atMost limit: Int = 65_536) throws -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: limit)
      let count = buffer.withUnsafeMutableBytes { LoopbackSocket.receive(descriptor, into: $0) }
      if count <= 0 { throw Gone() }
      return Array(buffer[..<count])
    }

    /// Returns a head, up to and with its empty line.
    func readHead() throws -> String {
      var bytes: [UInt8] = []
      while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) { bytes += try read(1) }
      return String(decoding: bytes, as: UTF8.self)
    }

    func write(_ bytes: [UInt8]) throws {
      guard bytes.withUnsafeBytes({ LoopbackSocket.send(descriptor, $0) }) else { throw Gone() }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Waits until the other side goes away.
    func waitForEnd() throws { while true { _ = try readSome() } }

    /// Ends the connection with a reset (RST).
    func reset() {
      LoopbackSocket.setReset(descriptor)
      // Only a close resets, and the number stays taken until the peer is released.
      let other = open("/dev/null", O_RDONLY)
      dup2(other, descriptor)
      LoopbackSocket.close(other)
    }

    /// Forwards the bytes of both sides until one of them ends, or this side sends bytes that must not pass.
    func relay(to other: Peer, while goesOn: ([UInt8]) -> Bool = { _ in true }) throws {
      defer { other.shutdown() }
      while true {
        let isReadable = LoopbackSocket.poll([(descriptor, true), (other.descriptor, true)], milliseconds: -1)
        if isReadable[0] {
          let bytes = try readSome()
          guard goesOn(bytes) else { return }
          try other.write(bytes)
        }
        if isReadable[1] { try write(other.readSome()) }
      }
    }
  }
#endif
