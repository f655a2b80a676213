public import Foundation
import RequestBehaviors

/// A file that belongs to an entry of an ``Outbox``, such as a photo to upload.
///
/// ``Outbox/attach(_:moving:)`` makes one. It is a property of an operation:
///
/// ```swift
/// struct UploadPhoto: OutboxOperation {
///   static let name = "photo.upload"
///   var note: UUID
///   var photo: OutboxAttachment
///
///   func request(in db: Database) -> Request<Void> {
///     .put("photos/\(note)", body: .file(photo.url))
///   }
/// }
/// ```
///
/// The file is removed when the entry is delivered or discarded.
public struct OutboxAttachment: Codable, Sendable, Hashable {
  /// The URL of the file, in the folder beside the database.
  public let url: URL

  init(url: URL) { self.url = url }

  /// Encodes the name of the file and not its place, which may differ at the next launch.
  public func encode(to encoder: any Encoder) throws {
    if let key = OutboxFiles.collectorKey, let collector = encoder.userInfo[key] as? OutboxFiles.Collector {
      collector.add(url.lastPathComponent)
    }
    var container = encoder.singleValueContainer()
    try container.encode(url.lastPathComponent)
  }

  /// Decodes the name of a file in the outbox's folder.
  ///
  /// - Throws: `DecodingError` for a text that is not a file name, and outside an outbox.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let key = OutboxFiles.folderKey, let folder = decoder.userInfo[key] as? URL else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an attachment is decoded by its outbox only, which knows the folder")
    }
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(name)\" is not a file name")
    }
    url = folder.appending(path: name)
  }
}
