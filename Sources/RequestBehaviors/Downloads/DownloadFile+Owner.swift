import Foundation

// Whose file it is: nothing of a user who has signed out is kept, nor is it left behind.
extension DownloadFile {
  /// Notes the call that the file is of.
  func belong(to call: Call) { self.call.withLock { $0 = call } }

  /// Throws unless those whose file it is are still there.
  func verifyOwner() throws {
    let call = call.withLock(\.self)
    try call?.owner.verify()
  }

  /// Has what this download leaves behind removed when a scope of its call ends.
  func removeWithScope(_ record: DownloadRecord) {
    guard let call = call.withLock(\.self) else { return }
    call.scopeEndings?.whenOneEnds(of: call.scopes, id: partial.path) { [destination] in
      await DownloadFile.removeLeftover(of: record, at: destination)
    }
  }

  /// Leaves the place alone when a scope ends: there is nothing of this download any more.
  func stayWithScope() { call.withLock(\.self)?.scopeEndings?.forget(id: partial.path) }

  /// Removes what a download left behind, unless another one has the place or left something of its own.
  private static func removeLeftover(of record: DownloadRecord, at destination: URL) async {
    guard let file = try? await take(destination) else { return }
    await file.discard(ifOf: record)
    await file.release()
  }
}
