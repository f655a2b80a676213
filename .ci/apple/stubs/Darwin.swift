// What the sources use of Darwin: Glibc's functions, and those whose types differ, with D_ before them (preprocess.py).
//
// From memory of Apple's documentation: posix_spawnattr_…, POSIX_SPAWN_CLOEXEC_DEFAULT and F_FULLFSYNC.
@_exported import Glibc

public typealias D_posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias D_posix_spawnattr_t = UnsafeMutableRawPointer
public let D_SOCK_STREAM: Int32 = 1
public let D_SHUT_RD: Int32 = 0
public let D_SHUT_WR: Int32 = 1
public let D_SHUT_RDWR: Int32 = 2
public let D_IPPROTO_TCP: Int32 = 6
public let SO_NOSIGPIPE: Int32 = 0x1022
public let D_RTLD_DEFAULT = UnsafeMutableRawPointer(bitPattern: -2)
public typealias D_nfds_t = UInt32
public struct D_sockaddr_in {
  public var sin_len: UInt8 = 0, sin_family: D_sa_family_t = 0, sin_port: in_port_t = 0, sin_addr = in_addr()
  public init() {}
}
public struct D_sockaddr_in6 {
  public var sin6_len: UInt8 = 0, sin6_family: D_sa_family_t = 0, sin6_port: in_port_t = 0, sin6_addr = in6_addr()
  public init() {}
}
public typealias D_sa_family_t = UInt8
public typealias tcflag_t = UInt
public struct D_timeval {
  public var tv_sec: Int, tv_usec: Int32
  public init(tv_sec: Int, tv_usec: Int32) {
    self.tv_sec = tv_sec
    self.tv_usec = tv_usec
  }
}
@discardableResult public func D_poll(_: UnsafeMutablePointer<pollfd>!, _: D_nfds_t, _: Int32) -> Int32 { 0 }
@discardableResult public func D_posix_spawn_file_actions_init(_: UnsafeMutablePointer<D_posix_spawn_file_actions_t?>!)
  -> Int32
{ 0 }
@discardableResult public func D_posix_spawn_file_actions_destroy(
  _: UnsafeMutablePointer<D_posix_spawn_file_actions_t?>!
) -> Int32 { 0 }
@discardableResult public func D_posix_spawn_file_actions_adddup2(
  _: UnsafeMutablePointer<D_posix_spawn_file_actions_t?>!, _: Int32, _: Int32
) -> Int32 { 0 }
@discardableResult public func D_posix_spawn_file_actions_addclose(
  _: UnsafeMutablePointer<D_posix_spawn_file_actions_t?>!, _: Int32
) -> Int32 { 0 }
@discardableResult public func D_posix_spawn_file_actions_addopen(
  _: UnsafeMutablePointer<D_posix_spawn_file_actions_t?>!, _: Int32, _: UnsafePointer<CChar>!, _: Int32, _: mode_t
) -> Int32 { 0 }
@discardableResult public func D_posix_spawn(
  _: UnsafeMutablePointer<pid_t>!, _: UnsafePointer<CChar>!, _: UnsafePointer<D_posix_spawn_file_actions_t?>!,
  _: UnsafePointer<D_posix_spawnattr_t?>!, _: UnsafePointer<UnsafeMutablePointer<CChar>?>!,
  _: UnsafePointer<UnsafeMutablePointer<CChar>?>!
) -> Int32 { 0 }
@discardableResult public func D_posix_spawnattr_init(_: UnsafeMutablePointer<D_posix_spawnattr_t?>!) -> Int32 { 0 }
@discardableResult public func D_posix_spawnattr_destroy(_: UnsafeMutablePointer<D_posix_spawnattr_t?>!) -> Int32 { 0 }
@discardableResult public func D_posix_spawnattr_setflags(_: UnsafeMutablePointer<D_posix_spawnattr_t?>!, _: Int16)
  -> Int32
{ 0 }
public let POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 = 0x4000
public let F_FULLFSYNC: Int32 = 51
