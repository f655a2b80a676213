import Foundation

/// The step that a download takes after the head of a response, decided without side effects.
enum DownloadHeadDecision: Sendable, Hashable {
  /// Write the body from the beginning of the file on.
  case begin
  /// Write the body after the bytes of the unfinished file.
  case append(total: Int64)
  /// The unfinished file has all bytes already.
  case complete
  /// Ask for the whole file, because its rest cannot be used; with the reason.
  case restart(String)
  /// Return the response, which has no file.
  case pass
  /// Fail, because the response does not fit the request; with the reason.
  case fail(String)

  /// The beginning of a file whose rest was asked for.
  struct Partial: Sendable, Hashable {
    let record: DownloadRecord
    /// How many bytes the unfinished file has; more than 0.
    let length: Int64
  }

  /// The bytes that an earlier download has left.
  enum Found: Sendable, Hashable {
    /// No bytes.
    case nothing
    /// Bytes that cannot be resumed; with the reason.
    case unusable(String)
    /// Bytes whose rest can be asked for.
    case partial(Partial)
  }

  /// Decides what to do.
  ///
  /// | asked for | status | step |
  /// |---|---|---|
  /// | the whole file | 206 | fail |
  /// | the rest | 206 or 416 from another place than the unfinished file | restart |
  /// | the rest | 206 or 416 that is verified although the unfinished file is not, or the other way round | restart |
  /// | the rest | 206 or 416 whose owner is not known | restart |
  /// | the rest | 206 that continues the unfinished file | append |
  /// | the rest | 206 of other content, another range or encoded | restart |
  /// | the rest | 206 without the validator of the unfinished file | restart |
  /// | the rest | 206 with contradictory lengths, or without a known length of the file | restart |
  /// | the rest | 416, and the unfinished file is whole | complete |
  /// | the rest | 416 otherwise | restart |
  /// | either | 304, or one that the call does not accept | pass |
  /// | either | any other | begin |
  ///
  /// - Parameters:
  ///   - partial: The unfinished file, if its rest was requested.
  ///   - status: The status of the response.
  ///   - headers: Its fields.
  ///   - isAccepted: Whether the call accepts the status.
  ///   - isPartWanted: Whether the user asked for a part of the file.
  ///   - isElsewhere: Whether the response comes from another place than the unfinished file.
  ///   - isProved: Whether the response was proved to be the server's.
  ///   - isOwned: Whether the owner of the response is known.
  init(
    after partial: Partial?, status: Int, _ headers: HeaderFields, isAccepted: Bool, isPartWanted: Bool = false,
    isElsewhere: Bool = false, isProved: Bool = false, isOwned: Bool = true
  ) {
    // An impostor may know the tag of the content, and its bytes must not be taken for the server's.
    let wouldMix = partial.map { $0.record.isProved != isProved } ?? false
    let isForeign = partial != nil && !isOwned
    switch status {
    case 206 where isPartWanted: self = .begin
    case 206 where isElsewhere, 416 where isElsewhere: self = .restart("the rest is in another place now")
    case 206 where wouldMix, 416 where wouldMix:
      self = .restart(isProved ? "what is there was not verified" : "the rest is not verified, and what is there is")
    case 206 where isForeign, 416 where isForeign: self = .restart("the owner of the rest is not known")
    case 206: self = DownloadHeadDecision.append(to: partial, headers)
    case 416:
      guard let partial else {
        self = .pass
        return
      }
      let total = ContentRange(headers["Content-Range"]).flatMap(\.total) ?? partial.record.total
      let isWhole = total == partial.length && !partial.record.isContradicted(by: headers)
      self = isWhole ? .complete : .restart("the file is not as long as what is there")
    case 304: self = .pass
    default: self = isAccepted ? .begin : .pass
    }
  }

  private static func append(to partial: Partial?, _ headers: HeaderFields) -> DownloadHeadDecision {
    guard let partial else { return .fail("the server sent a part of the file where all of it was asked for") }
    if headers.hasContentEncoding { return .restart("the rest is encoded") }
    // A 206 has the validator that a 200 would have (RFC 9110 §15.3.7). Without it, the server may have ignored
    // `If-Range` and sent a part of another version.
    if partial.record.isContradicted(by: headers) { return .restart("the rest is of other content") }
    guard partial.record.isConfirmed(by: headers) else {
      return .restart("the rest does not say of which content it is")
    }
    guard let range = ContentRange(headers["Content-Range"]), let bytes = range.bytes else {
      return .restart("the rest does not say which part it is")
    }
    guard bytes.lowerBound == partial.length else { return .restart("the rest begins at \(bytes.lowerBound)") }
    if let length = headers.contentLength, length != bytes.length {
      return .restart("the rest has \(length) bytes and says that it has \(bytes.length)")
    }
    // Without the length, a rest that is shorter than requested could not be detected (RFC 9110 §15.3.7).
    guard let total = range.total ?? partial.record.total else {
      return .restart("the length of the file is not known")
    }
    guard total == partial.record.total ?? total, bytes.upperBound <= total else {
      return .restart("the length of the file is another one now")
    }
    return .append(total: total)
  }
}
