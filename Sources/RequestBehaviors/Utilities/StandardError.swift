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

/// The stream for messages to the people who run the program.
///
/// A pipe whose reader has stopped takes no more lines. The threads of requests do not wait for it: up to 1 MiB waits
/// on a thread of its own, and lines beyond that are lost.
package enum StandardError {
  fileprivate struct State: Sendable {
    /// The text that waits for the stream, and its length.
    var waiting = Line<Data>()
    var length = 0
    var isWaiting = false
    /// The number of lines that were lost since the last line that was not.
    var lost = 0
  }

  /// The most bytes that wait.
  fileprivate static let limit = 1 << 20
  // A pipe takes what is longer than its buffer in pieces, between which another thread could write.
  private static let state = Locked(State())
  private static let queue = BlockingQueue(label: "RequestBehaviors.StandardError")

  /// Writes a line; a line that cannot be written, as on a full disk, is lost.
  package static func write(_ line: String) {
    let startsWaiting = state.withLock { state in
      var text = Data((line + "\n").utf8)
      // Lines stay in order: none is written before those that wait.
      if !state.isWaiting {
        text = writeAtOnce(text)
        guard !text.isEmpty else { return false }
      }
      return state.add(text)
    }
    if startsWaiting { queue.async { writeWaiting() } }
  }

  /// Writes as much as the stream takes without waiting, and returns the rest.
  ///
  /// Most programs end soon after their last line, so a line is left to another thread only if it must be.
  private static func writeAtOnce(_ text: Data) -> Data {
    var rest = text
    var status = stat()
    let isFile = fstat(STDERR_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    while !rest.isEmpty {
      var stream = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      // An error of the stream is found by writing.
      if poll(&stream, 1, 0) == 0 { return rest }
      // A pipe that is ready takes so many bytes without waiting. A file takes any number, in one piece.
      let piece = isFile ? rest : rest.prefix(Int(PIPE_BUF))
      guard put(piece) else { return Data() }
      rest = rest.dropFirst(piece.count)
    }
    return rest
  }

  private static func writeWaiting() {
    while let text = state.withLock({ $0.next() }) { _ = put(text) }
  }

  private static func put(_ text: Data) -> Bool {
    // The function `write(_:)` of the handle would end the process instead of throwing.
    (try? FileHandle.standardError.write(contentsOf: text)) != nil
  }
}

extension StandardError.State {
  /// Adds text that waits, unless too much waits already.
  ///
  /// - Returns: Whether nothing waited before.
  fileprivate mutating func add(_ text: Data) -> Bool {
    // The rest of a line is kept in any case, so that the next line does not follow it in the same line.
    guard !isWaiting || length + text.count <= StandardError.limit else {
      lost += 1
      return false
    }
    waiting.append(text)
    length += text.count
    defer { isWaiting = true }
    return !isWaiting
  }

  /// Removes and returns the text that has waited longest; `nil` if none waits.
  fileprivate mutating func next() -> Data? {
    if let text = waiting.popFirst() {
      length -= text.count
      return text
    }
    guard lost == 0 else {
      defer { lost = 0 }
      return Data("\(lost) lines were lost, because standard error did not take them\n".utf8)
    }
    isWaiting = false
    return nil
  }
}
