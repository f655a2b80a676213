import Foundation

extension CocoaError {
  /// The error of a system call that concerned a file.
  static func writing(_ path: String, _ code: Int32 = errno) -> CocoaError {
    failed(path, String(cString: strerror(code)))
  }

  /// The error of a file that something else has written or replaced.
  static func changed(_ path: String) -> CocoaError { failed(path, "another program changed the file meanwhile") }

  private static func failed(_ path: String, _ reason: String) -> CocoaError {
    let name = URL(fileURLWithPath: path).lastPathComponent
    return CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: "\(name): \(reason)"])
  }
}
