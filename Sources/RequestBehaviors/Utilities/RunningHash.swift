package import Foundation

#if canImport(CryptoKit)
  import CryptoKit

  /// A hash of octets that arrive in parts.
  package struct RunningHash {
    private enum State {
      case sha1(Insecure.SHA1)
      case sha256(SHA256)
    }

    private var state: State

    /// Creates a hash of no octets.
    package init(_ function: HashFunction) {
      state = function == .sha1 ? .sha1(Insecure.SHA1()) : .sha256(SHA256())
    }

    /// Adds octets.
    package mutating func update(_ octets: Data) {
      switch state {
      case .sha1(var hash):
        hash.update(data: octets)
        state = .sha1(hash)
      case .sha256(var hash):
        hash.update(data: octets)
        state = .sha256(hash)
      }
    }

    /// Returns the hash of all octets so far.
    package func digest() -> [UInt8] {
      switch state {
      case .sha1(let hash): Array(hash.finalize())
      case .sha256(let hash): Array(hash.finalize())
      }
    }
  }
#else
  /// A hash of octets that arrive in parts.
  package struct RunningHash {
    private let function: HashFunction
    private var state: SIMD8<UInt32>
    /// The number of octets that the state has absorbed, in whole blocks.
    private var absorbed = 0
    /// The octets after the last whole block.
    private var pending: [UInt8] = []

    /// Creates a hash of no octets.
    package init(_ function: HashFunction) {
      self.function = function
      state = function.initialState
    }

    /// Adds octets.
    package mutating func update(_ octets: Data) {
      pending += octets
      let whole = pending.count & ~63
      pending.withUnsafeBytes { function.absorb(UnsafeRawBufferPointer(rebasing: $0[..<whole]), into: &state) }
      absorbed += whole
      pending.removeFirst(whole)
    }

    /// Returns the hash of all octets so far.
    package func digest() -> [UInt8] {
      pending.withUnsafeBytes { function.finish(state, with: $0, after: absorbed) }
    }
  }
#endif
