import CFaultVFS
import Foundation
import RequestBehaviorsSQLite

/// A SQLite VFS of a test's own, whose writes can be made to fail and which knows what a power cut would leave.
final class FaultVFS: @unchecked Sendable {
  // The VFS protects itself.
  private let pointer: OpaquePointer
  private let name = "fault-\(UUID().uuidString)"

  /// Creates a VFS; no store that uses it may outlive it.
  init(recording: Bool = false) {
    guard let pointer = fault_vfs_create(name, recording ? 1 : 0) else { fatalError("SQLite registers no VFS") }
    self.pointer = pointer
  }

  deinit { fault_vfs_destroy(pointer) }

  /// A configuration of stores whose file operations it does.
  func configuration(_ durability: SQLiteDurability = .normal) -> SQLiteConfiguration {
    var configuration = SQLiteConfiguration(durability: durability)
    configuration.vfs = name
    return configuration
  }

  // MARK: Errors

  /// Makes the n-th write, truncation or sync from now fail, or that and all after it.
  func fail(at n: Int, andAfter lasts: Bool = false) { fault_vfs_fail(pointer, n, lasts ? 1 : 0) }

  /// Makes the operations that fail do so as on a full disk, or by an error of the disk.
  func setFull(_ isFull: Bool) { fault_vfs_set_full(pointer, isFull ? 1 : 0) }

  /// Turns failures off, and returns whether one has happened.
  func heal() -> Bool {
    defer { fault_vfs_fail(pointer, 0, 0) }
    return fault_vfs_failures(pointer) > 0
  }

  /// Opens all files as a read-only file system would from now on.
  func makeReadOnly() { fault_vfs_make_read_only(pointer) }

  // MARK: Power cuts

  /// How many changes the files have seen.
  var position: Int { fault_vfs_position(pointer) }

  /// Writes to a folder what a power cut after so many changes may leave: what was synced, and any part of the rest.
  func cut(at position: Int, seed: UInt64, to folder: String) throws {
    let result = fault_vfs_cut(pointer, position, seed, folder)
    if result != 0 { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
  }
}
