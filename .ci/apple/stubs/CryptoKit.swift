// What the sources use of CryptoKit.
public import Foundation

public protocol Digest: Hashable, ContiguousBytes, CustomStringConvertible, Sequence, Sendable
where Self.Element == UInt8 {
  static var byteCount: Int { get }
}
public protocol HashFunction: Sendable {
  static var blockByteCount: Int { get }
  associatedtype Digest: CryptoKit.Digest
  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Self.Digest
}
extension HashFunction {
  public static func hash<D: DataProtocol>(data: D) -> Self.Digest { fatalError() }
  public mutating func update<D: DataProtocol>(data: D) {}
}
public struct SHA256Digest: Digest {
  public static var byteCount: Int { 32 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public var description: String { "" }
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}
public struct SHA256: HashFunction {
  public static let blockByteCount = 64
  public typealias Digest = SHA256Digest
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA256Digest { fatalError() }
}
public enum Insecure {
  public struct SHA1Digest: Digest {
    public static var byteCount: Int { 20 }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public var description: String { "" }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
  }
  public struct SHA1: HashFunction {
    public static let blockByteCount = 64
    public typealias Digest = SHA1Digest
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA1Digest { fatalError() }
  }
}
public struct SymmetricKeySize: Sendable { public let bitCount: Int }
public struct SymmetricKey: ContiguousBytes, Sendable, Equatable {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public var bitCount: Int { 0 }
  public init<D: ContiguousBytes>(data: D) {}
  public init(size: SymmetricKeySize) {}
}
public protocol MessageAuthenticationCode: Hashable, ContiguousBytes, CustomStringConvertible, Sequence, Sendable
where Self.Element == UInt8 {
  var byteCount: Int { get }
}
public struct HashedAuthenticationCode<H: HashFunction>: MessageAuthenticationCode {
  public static func == (a: Self, b: Self) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
  public var byteCount: Int { 0 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public var description: String { "" }
  public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}
public struct HMAC<H: HashFunction>: Sendable {
  public typealias Key = SymmetricKey
  public typealias MAC = HashedAuthenticationCode<H>
  public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> MAC { fatalError() }
}
