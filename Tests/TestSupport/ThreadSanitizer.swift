import Foundation

/// The thread sanitizer, under which everything is several times slower and memory grows with what is watched.
public enum ThreadSanitizer {
  /// Whether the tests were built with it.
  public static let isRunning = dlsym(nil, "__tsan_init") != nil
}
