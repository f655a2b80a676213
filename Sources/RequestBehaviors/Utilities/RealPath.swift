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

/// The one path of a file, by which all processes find the same files beside it.
///
/// Every call blocks.
package enum RealPath {
  /// Returns the absolute path of a file without symbolic links; the file need not exist yet.
  ///
  /// A path that leads to no folder is returned as it is, so that SQLite reports why it cannot be opened. That of a
  /// database in memory is returned as it is, too.
  package static func of(_ path: String) -> String { path == ":memory:" ? path : of(path, links: 40) }

  private static func of(_ path: String, links: Int) -> String {
    if let path = existing(path) { return path }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    let folder = String(path.dropLast(name.count))
    // The file to which the link leads is the one that is made.
    if links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      return of(target.hasPrefix("/") ? target : folder + target, links: links - 1)
    }
    guard let folder = existing(folder.isEmpty ? "." : folder) else { return path }
    return folder + (folder.hasSuffix("/") ? "" : "/") + name
  }

  private static func existing(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(validatingCString: found)
  }
}
