extension SQLiteError {
  private static let environmental: Set<Code> = [
    .busy, .locked, .noMemory, .readOnly, .interrupted, .io, .corrupt, .full, .cannotOpen, .notADatabase,
  ]

  /// Returns whether an error of SQLite comes from the file or the disk and not from what was asked of it.
  static func isEnvironmental(_ error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return false }
    return environmental.contains(error.code)
  }
}
