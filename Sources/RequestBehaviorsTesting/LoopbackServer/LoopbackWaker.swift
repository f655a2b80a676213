/// A pipe by which any thread ends the `poll` of another one.
final class LoopbackWaker: Sendable {
  /// The end that becomes readable after ``wake()``.
  let readEnd: Int32
  private let writeEnd: Int32

  init() throws { (readEnd, writeEnd) = try LoopbackSocket.makePipe() }

  deinit {
    LoopbackSocket.close(readEnd)
    LoopbackSocket.close(writeEnd)
  }

  func wake() { LoopbackSocket.writeByte(writeEnd) }

  /// Takes back all wake-ups so far.
  func clear() { LoopbackSocket.drainPipe(readEnd) }
}
