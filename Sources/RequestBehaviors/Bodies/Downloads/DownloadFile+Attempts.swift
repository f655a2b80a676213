import Foundation

// A behavior further out may call `next` several times. One attempt at a time writes the file: the one that began last.
extension DownloadFile {
  /// The attempts of one download.
  struct Attempts: Sendable {
    /// The number of the attempt that began last.
    fileprivate var latest = 0
    /// The number of the attempt whose bytes are in the file.
    fileprivate var writer = 0
    /// Whether all bytes of that attempt are in the file.
    fileprivate var isWhole = false
    /// Whether the download has ended.
    var areOver = false
  }

  /// Begins an attempt; earlier ones cannot write any more.
  ///
  /// - Returns: The number of the attempt.
  func beginAttempt() -> Int {
    attempts.withLock { attempts in
      attempts.latest += 1
      return attempts.latest
    }
  }

  /// Records that the file has all bytes of an attempt.
  func noteWhole(in attempt: Int) { attempts.withLock { if $0.writer == attempt { $0.isWhole = true } } }

  /// Records that an attempt replaces the bytes in the file, or adds to them.
  func beginWriting(in attempt: Int) throws {
    try verify(attempt)
    attempts.withLock { ($0.writer, $0.isWhole) = (attempt, false) }
  }

  /// Throws if a later attempt has begun.
  func verify(_ attempt: Int) throws {
    guard attempts.withLock({ $0.latest == attempt && !$0.areOver }) else {
      throw NetworkError(
        .invalidBehavior,
        "a behavior called next again while an attempt of the download to \(destination.path) was under way; two at once "
          + "would write one file")
    }
  }

  /// Throws if the download has ended: then another one may use its destination.
  func verifyOpen() throws {
    guard !attempts.withLock({ $0.areOver }) else {
      throw NetworkError(
        .invalidBehavior, "a behavior sends a request of the download to \(destination.path), which has ended")
    }
  }

  /// Ends all attempts before the file is moved to its destination.
  ///
  /// - Throws: ``NetworkError`` if the bytes in the file are those of an attempt that failed.
  func endAttempts() throws {
    let isWhole = attempts.withLock { attempts in
      attempts.latest += 1
      return attempts.isWhole
    }
    guard isWhole else {
      throw NetworkError.fileUnwritable(
        "a behavior returned the response of an attempt of the download to \(destination.path), whose bytes were replaced "
          + "by a later attempt that failed")
    }
  }
}

extension Call {
  /// Whether the call goes on by itself, beside the one that a download belongs to and maybe longer.
  var isBesideItsDownload: Bool { purpose == .background || purpose == .shared }
}
