import Foundation

/// Decides whether an unfinished file can be resumed.
extension DownloadFile {
  /// Returns the beginning from an earlier download or attempt, or the reason why it cannot be resumed.
  ///
  /// - Parameter owner: The owner of this download; `nil` if it does not resume.
  /// - Returns: The length of the beginning and its record, or the reason.
  func found(for owner: DownloadOwner?) async -> DownloadHeadDecision.Found {
    let found = try? await run { [self] () -> DownloadHeadDecision.Found in
      let length = try file?.length() ?? 0
      guard length > 0 else { return .nothing }
      guard let owner else { return .unusable("only a GET for the whole file is resumed, unless resumes is false") }
      guard let record = (try? Data(contentsOf: sidecar)).flatMap({ DownloadRecord($0) }) else {
        return .unusable("the server had sent no strong validator for the unfinished file")
      }
      guard owner.owns(record) else {
        return .unusable("the unfinished file is of another URL, another user or other credentials")
      }
      return .partial(DownloadHeadDecision.Partial(record: record, length: length))
    }
    return found ?? .unusable("the unfinished file could not be read")
  }
}
