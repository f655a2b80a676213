import Foundation

/// The thread sanitizer, under which everything is several times slower and memory grows with what is watched.
public enum ThreadSanitizer {
  /// Whether the tests were built with it.
  public static let isRunning = dlsym(everyLibrary, "__tsan_init") != nil

  /// What `RTLD_DEFAULT` is in C.
  private static var everyLibrary: UnsafeMutableRawPointer? {
    #if canImport(Darwin)
      UnsafeMutableRawPointer(bitPattern: -2)
    #else
      nil
    #endif
  }
}
