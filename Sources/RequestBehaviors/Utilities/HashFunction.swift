#if canImport(CryptoKit)
  import CryptoKit
  import Foundation

  /// A hash function of the SHA family (FIPS 180-4).
  package enum HashFunction: Sendable {
    case sha1
    case sha256

    /// Returns the hash of octets, 20 or 32 octets long.
    package func digest(of octets: UnsafeRawBufferPointer) -> [UInt8] {
      switch self {
      case .sha1: Array(Insecure.SHA1.hash(data: octets))
      case .sha256: Array(SHA256.hash(data: octets))
      }
    }
  }

  /// An HMAC (RFC 2104) whose key is set up once.
  package struct MessageAuthenticator: Sendable {
    private let function: HashFunction
    private let key: SymmetricKey

    /// Creates an HMAC with a key of any length.
    package init(_ function: HashFunction, key: [UInt8]) {
      self.function = function
      self.key = SymmetricKey(data: key)
    }

    /// Returns the authentication code of octets, as long as the function's hash.
    package func code(for octets: UnsafeRawBufferPointer) -> [UInt8] {
      switch function {
      case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: octets, using: key))
      case .sha256: Array(HMAC<SHA256>.authenticationCode(for: octets, using: key))
      }
    }
  }
#else
  /// A hash function of the SHA family (FIPS 180-4).
  package enum HashFunction: Sendable {
    case sha1
    case sha256

    /// Returns the hash of octets, 20 or 32 octets long.
    package func digest(of octets: UnsafeRawBufferPointer) -> [UInt8] {
      finish(initialState, with: octets, after: 0)
    }

    /// The chaining value before the first block; SHA-1 uses five of its words.
    var initialState: SIMD8<UInt32> {
      switch self {
      case .sha1:
        [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0]
      case .sha256:
        [
          0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
      }
    }

    private var wordCount: Int { self == .sha1 ? 5 : 8 }

    func absorb(_ octets: UnsafeRawBufferPointer, into state: inout SIMD8<UInt32>) {
      guard let start = octets.baseAddress else { return }
      for offset in stride(from: 0, to: octets.count, by: 64) {
        switch self {
        case .sha1: compressSHA1(&state, start + offset)
        case .sha256: compressSHA256(&state, start + offset)
        }
      }
    }

    /// Returns the hash of the octets that a state has absorbed (`prefix` octets, whole blocks) and of further octets.
    func finish(
      _ initial: SIMD8<UInt32>, with octets: UnsafeRawBufferPointer, after prefix: Int
    ) -> [UInt8] {
      var state = initial
      let whole = octets.count & ~63
      absorb(UnsafeRawBufferPointer(rebasing: octets[..<whole]), into: &state)

      // FIPS 180-4 §5.1.1: a one bit, zeros up to eight octets before the end of a block, and the length in bits.
      let rest = octets.count - whole
      let tail = rest < 56 ? 64 : 128
      withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { block in
        block.initializeMemory(as: UInt8.self, repeating: 0)
        UnsafeMutableRawBufferPointer(rebasing: block[..<rest]).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: octets[whole...]))
        block[rest] = 0x80
        let bits = UInt64(prefix + octets.count) << 3
        block.storeBytes(of: bits.bigEndian, toByteOffset: tail - 8, as: UInt64.self)
        absorb(UnsafeRawBufferPointer(rebasing: block[..<tail]), into: &state)
      }
      return Array(unsafeUninitializedCapacity: wordCount * 4) { buffer, count in
        let raw = UnsafeMutableRawBufferPointer(buffer)
        for index in 0..<wordCount {
          raw.storeBytes(of: state[index].bigEndian, toByteOffset: index * 4, as: UInt32.self)
        }
        count = wordCount * 4
      }
    }
  }

  /// An HMAC (RFC 2104) whose key is set up once.
  package struct MessageAuthenticator: Sendable {
    private let function: HashFunction
    private let inner: SIMD8<UInt32>
    private let outer: SIMD8<UInt32>

    /// Creates an HMAC with a key of any length.
    package init(_ function: HashFunction, key: [UInt8]) {
      self.function = function
      var key = key
      if key.count > 64 { key = key.withUnsafeBytes { function.digest(of: $0) } }
      key += [UInt8](repeating: 0, count: 64 - key.count)
      inner = MessageAuthenticator.state(after: key.map { $0 ^ 0x36 }, function)
      outer = MessageAuthenticator.state(after: key.map { $0 ^ 0x5c }, function)
    }

    private static func state(after block: [UInt8], _ function: HashFunction) -> SIMD8<UInt32> {
      var state = function.initialState
      block.withUnsafeBytes { function.absorb($0, into: &state) }
      return state
    }

    /// Returns the authentication code of octets, as long as the function's hash.
    package func code(for octets: UnsafeRawBufferPointer) -> [UInt8] {
      function.finish(inner, with: octets, after: 64).withUnsafeBytes {
        function.finish(outer, with: $0, after: 64)
      }
    }
  }

  // A debug build inlines only what is transparent, and runs iterators and closures as they are written.
  @_transparent
  private func rotl(_ x: UInt32, _ n: UInt32) -> UInt32 { x &<< n | x &>> (32 &- n) }

  @_transparent
  private func rotr(_ x: UInt32, _ n: UInt32) -> UInt32 { x &>> n | x &<< (32 &- n) }

  @_transparent
  private func load(_ block: UnsafeRawPointer, _ index: Int) -> UInt32 {
    UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
  }

  // FIPS 180-4 §6.1.2. The loops have no closures and no iterators, so that a debug build is quick too.
  private func compressSHA1(_ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { buffer in
      guard let w = buffer.baseAddress else { return }
      var t = 0
      while t < 16 {
        w[t] = load(block, t)
        t &+= 1
      }
      while t < 80 {
        w[t] = rotl(w[t &- 3] ^ w[t &- 8] ^ w[t &- 14] ^ w[t &- 16], 1)
        t &+= 1
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      t = 0
      while t < 80 {
        let (mixed, constant): (UInt32, UInt32)
        if t < 20 {
          (mixed, constant) = (d ^ (b & (c ^ d)), 0x5a82_7999)
        } else if t < 40 {
          (mixed, constant) = (b ^ c ^ d, 0x6ed9_eba1)
        } else if t < 60 {
          (mixed, constant) = ((b & c) | (d & (b | c)), 0x8f1b_bcdc)
        } else {
          (mixed, constant) = (b ^ c ^ d, 0xca62_c1d6)
        }
        let next = rotl(a, 5) &+ mixed &+ e &+ constant &+ w[t]
        e = d
        d = c
        c = rotl(b, 30)
        b = a
        a = next
        t &+= 1
      }
      state = state &+ [a, b, c, d, e, 0, 0, 0]
    }
  }

  @_transparent
  private func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
    _ h: inout UInt32, _ wk: UInt32
  ) {
    let t1 = h &+ wk &+ (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) &+ (g ^ (e & (f ^ g)))
    d = d &+ t1
    h = t1 &+ (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) &+ ((a & b) | (c & (a | b)))
  }

  // FIPS 180-4 §6.2.2, unrolled by eight rounds.
  private func compressSHA256(_ state: inout SIMD8<UInt32>, _ block: UnsafeRawPointer) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { buffer in
      guard let w = buffer.baseAddress else { return }
      var m = 0
      while m < 16 {
        w[m] = load(block, m)
        m &+= 1
      }
      var n = 16
      while n < 64 {
        let t = n
        n &+= 1
        let x = w[t &- 15]
        let y = w[t &- 2]
        let s0 = rotr(x, 7) ^ rotr(x, 18) ^ (x &>> 3)
        let s1 = rotr(y, 17) ^ rotr(y, 19) ^ (y &>> 10)
        w[t] = w[t &- 16] &+ s0 &+ w[t &- 7] &+ s1
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      var (e, f, g, h) = (state[4], state[5], state[6], state[7])

      sha256Constants.withUnsafeBufferPointer { table in
        guard let k = table.baseAddress else { return }
        var t = 0
        while t < 64 {
          round(a, b, c, &d, e, f, g, &h, w[t] &+ k[t])
          round(h, a, b, &c, d, e, f, &g, w[t &+ 1] &+ k[t &+ 1])
          round(g, h, a, &b, c, d, e, &f, w[t &+ 2] &+ k[t &+ 2])
          round(f, g, h, &a, b, c, d, &e, w[t &+ 3] &+ k[t &+ 3])
          round(e, f, g, &h, a, b, c, &d, w[t &+ 4] &+ k[t &+ 4])
          round(d, e, f, &g, h, a, b, &c, w[t &+ 5] &+ k[t &+ 5])
          round(c, d, e, &f, g, h, a, &b, w[t &+ 6] &+ k[t &+ 6])
          round(b, c, d, &e, f, g, h, &a, w[t &+ 7] &+ k[t &+ 7])
          t &+= 8
        }
      }
      state = state &+ [a, b, c, d, e, f, g, h]
    }
  }

  // FIPS 180-4 §4.2.2.
  private let sha256Constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
#endif

extension HashFunction {
  /// Returns the hash of octets, 20 or 32 octets long.
  package func digest(of octets: [UInt8]) -> [UInt8] { octets.withUnsafeBytes { digest(of: $0) } }
}

extension MessageAuthenticator {
  /// Returns the authentication code of octets, as long as the function's hash.
  package func code(for octets: [UInt8]) -> [UInt8] { octets.withUnsafeBytes { code(for: $0) } }
}
