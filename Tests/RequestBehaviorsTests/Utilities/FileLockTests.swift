import Foundation
import Testing

// No other part of the library can be seen to hold a lock.
@testable import RequestBehaviors

@Suite(.limited) struct FileLockTests {
  @Test func `one descriptor has the lock until it is closed`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "FileLock-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (first, second) = (open(file.path, O_RDWR), open(file.path, O_RDWR))
    defer { close(second) }
    #expect(FileLock.take(first) == .taken)
    #expect(FileLock.take(first) == .taken)
    #expect(FileLock.take(second) == .busy)
    close(first)
    #expect(FileLock.take(second) == .taken)
  }

  @Test func `a released lock is free, although a process that is being started has a copy of the descriptor`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "FileLock-\(UUID().uuidString)")
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let (first, second) = (open(file.path, O_RDWR), open(file.path, O_RDWR))
    defer { close(second) }
    #expect(FileLock.take(first) == .taken)
    // The copy refers to the same open file, as one in another process does.
    let copy = dup(first)
    defer { close(copy) }
    FileLock.release(first)
    #expect(FileLock.take(second) == .taken)
  }

  @Test(arguments: [
    (CocoaError.Code.fileWriteVolumeReadOnly, true), (.fileWriteOutOfSpace, true), (.fileWriteNoPermission, false),
  ])
  func `an error of a full or read-only file system counts as no support for locks, and one of permissions does not`(
    code: CocoaError.Code, isUnsupported: Bool
  ) {
    let error = NetworkError.tokenStoreFailed("a test", CocoaError(code))
    #expect(FileLock.isUnsupported(error) == isUnsupported)
  }

  @Test func `a file that cannot be locked is not reported as busy`() { #expect(FileLock.take(-1) == .unsupported) }
}
