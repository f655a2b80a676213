/// How values of Swift types are written to columns.
///
/// The defaults are those of GRDB, so that either library reads what the other wrote. Reading accepts every form,
/// except that a number in a date's column is taken as seconds unless ``dates`` says milliseconds.
public struct RowFormat: Hashable, Sendable {
  /// How a `Date` is written.
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

  /// How a `UUID` is written.
  public enum UUIDs: Hashable, Sendable {
    /// BLOB of 16 bytes.
    case blob
    /// TEXT in upper case with hyphens.
    case text
  }

  /// How the column of a property is called.
  public enum Keys: Hashable, Sendable {
    /// Like the property's coding key.
    case asIs
    /// In snake case: `avatarURL` is `avatar_url`.
    case snakeCase
  }

  /// How dates are written; ``Dates/text`` by default.
  public var dates: Dates

  /// How UUIDs are written; ``UUIDs/blob`` by default.
  public var uuids: UUIDs

  /// How columns are called; ``Keys/asIs`` by default.
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
