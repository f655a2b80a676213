/// The form in which values of Swift types are written to columns.
///
/// The defaults are those of GRDB, so either library reads the other's values. Reading accepts every form, with one
/// exception: a number in a date's column means seconds unless ``dates`` says milliseconds.
public struct RowFormat: Hashable, Sendable {
  /// The form of a `Date`.
  public enum Dates: Hashable, Sendable {
    /// TEXT `yyyy-MM-dd HH:mm:ss.SSS` in UTC, rounded to the millisecond.
    case text
    /// TEXT `yyyy-MM-ddTHH:mm:ss.SSSZ`, rounded to the millisecond.
    case iso8601
    /// REAL seconds since 1970.
    case unixSeconds
    /// INTEGER milliseconds since 1970, rounded.
    case unixMilliseconds
  }

  /// The form of a `UUID`.
  public enum UUIDs: Hashable, Sendable {
    /// BLOB of 16 bytes.
    case blob
    /// TEXT in upper case with hyphens.
    case text
  }

  /// The name of a property's column.
  public enum Keys: Hashable, Sendable {
    /// The property's coding key.
    case asIs
    /// The coding key in snake case: `avatarURL` is `avatar_url`.
    case snakeCase
  }

  /// The form of dates; ``Dates/text`` by default.
  public var dates: Dates

  /// The form of UUIDs; ``UUIDs/blob`` by default.
  public var uuids: UUIDs

  /// The names of columns; ``Keys/asIs`` by default.
  public var keys: Keys

  /// Creates a format.
  public init(dates: Dates = .text, uuids: UUIDs = .blob, keys: Keys = .asIs) {
    self.dates = dates
    self.uuids = uuids
    self.keys = keys
  }
}

extension RowFormat.Keys {
  /// Returns the column for a property.
  func column(for property: String) -> String { self == .asIs ? property : Self.snakeCased(property) }

  /// Returns `avatarURL` as `avatar_url`, `htmlURLString` as `html_url_string`.
  static func snakeCased(_ property: String) -> String {
    let characters = Array(property)
    var result = ""
    for (index, character) in characters.enumerated() {
      let isWordStart =
        index > 0 && character.isUppercase && characters[index - 1] != "_"
        && (!characters[index - 1].isUppercase
          || (index + 1 < characters.count && characters[index + 1].isLowercase))
      result += (isWordStart ? "_" : "") + character.lowercased()
    }
    return result
  }
}
