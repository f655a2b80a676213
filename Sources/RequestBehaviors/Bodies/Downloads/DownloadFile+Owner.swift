import Foundation

// The file belongs to a user. When that user signs out, nothing of the file is kept.
extension DownloadFile {
  /// Records the call that the file belongs to.
  func belong(to call: Call) { self.call.withLock { $0 = call } }

  /// Throws if an owner of the file has signed out.
  func verifyOwner() throws {
    let call = call.withLock(\.self)
    try call?.owner.verify()
  }

  /// Arranges the removal of this download's unfinished file when an owner of its call signs out.
  func removeWithScope(_ record: DownloadRecord) {
    guard let call = call.withLock(\.self) else { return }
    for scope in call.owner.allScopes {
      call.scopeEndings?.leftovers.add(partial.path, of: scope) { [destination] in
        await DownloadFile.removeLeftover(of: record, at: destination)
      }
    }
  }

  /// Cancels that removal: this download has no unfinished file any more.
  func stayWithScope() { call.withLock(\.self)?.scopeEndings?.leftovers.forget(partial.path) }

  /// The name of an attempt's body among the data that are removed at a sign-out.
  private func bodyID(of attempt: Int) -> String { "\(partial.path) body \(attempt)" }

  /// Arranges that the body of an attempt ends when an owner of its call signs out.
  ///
  /// Otherwise a server that sends nothing more would keep the unfinished file in its place. The next user's download
  /// to the place waits until this one has ended.
  func endWithOwner(_ body: ByteStream, in attempt: Int) {
    guard let call = call.withLock(\.self) else { return }
    let end = { @Sendable [body = body.canceller, owner = call.owner, places] in
      do { try owner.verify() } catch {
        DownloadDestinations.shared.noteEnd(at: places)
        body.cancel(throwing: error)
      }
    }
    for scope in call.owner.allScopes { call.scopeEndings?.leftovers.addEnd(bodyID(of: attempt), of: scope, end) }
    // The user may have left just before that.
    end()
  }

  /// Cancels that: the body has been read.
  func forgetBody(of attempt: Int) { call.withLock(\.self)?.scopeEndings?.leftovers.forget(bodyID(of: attempt)) }

  /// Removes the unfinished file of a download, unless another download has left its own file there.
  ///
  /// If another download of this process uses the place, it removes the file at its end.
  private static func removeLeftover(of record: DownloadRecord, at destination: URL) async {
    // The place may become free or be taken between the two steps. Another process may hold it for longer.
    for _ in 0..<10 {
      if let file = try? await take(destination, forRemoval: true) {
        await file.discard(ifOf: record)
        return await file.release()
      }
      if await discardLater(ifOf: record, at: destination) { return }
    }
  }
}
