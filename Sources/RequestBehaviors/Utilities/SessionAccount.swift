import Foundation

/// Makes the id under which an account owns responses and files.
package enum SessionAccount {
  /// Returns the id of an account: the same each time, and without the name, because the id is part of keys and files.
  package static func id(of account: String, in session: String) -> String {
    let text = "\(session.utf8.count):\(session)\(account)"
    return prefix + Data(HashFunction.sha256.digest(of: Array(text.utf8))).base64EncodedString()
  }

  /// Returns the id of an account that no user signs in to; it differs from that of a user of the same name.
  static func id(ofService account: String, in session: String) -> String {
    id(of: "service\n" + account, in: session)
  }

  /// Whether an owner is the id of a named account.
  static func isID(_ scope: String) -> Bool { scope.hasPrefix(prefix) }

  private static let prefix = "account "
}
