/// Whether URLSession is the one of FoundationNetworking, as on Linux and Android, and not Apple's.
public let isLinux: Bool = {
  #if canImport(Darwin)
    false
  #else
    true
  #endif
}()
