#if os(Linux)
  public import Foundation

  /// Programs that see file systems of their own, such as a small disk.
  public enum PrivateMounts {
    /// Returns whether this system lets a program have them; a container often does not.
    public static func areAllowed() async -> Bool {
      let child = try? start("mount -t tmpfs -o size=100k tmpfs /mnt", URL(filePath: "/bin/true"), [])
      return await child?.end().status == 0
    }

    /// Starts a program after a script has mounted what the program is to see.
    ///
    /// - Parameters:
    ///   - script: The commands of the shell; `$1` and those after it are the arguments of the program.
    ///   - program: The program.
    ///   - arguments: Its arguments.
    /// - Returns: The process.
    /// - Throws: `POSIXError` if it cannot be started.
    public static func start(_ script: String, _ program: URL, _ arguments: [String]) throws -> ChildProcess {
      let command = "\(script) && exec \"$0\" \"$@\""
      return try ChildProcess(
        URL(filePath: "/usr/bin/unshare"),
        ["--map-root-user", "--mount", "sh", "-c", command, program.path(percentEncoded: false)] + arguments)
    }
  }
#endif
