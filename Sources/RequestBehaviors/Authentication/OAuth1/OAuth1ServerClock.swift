import Foundation

/// What time it is at a service, told by an answer and carried on by a monotonic clock.
///
/// The device's own date is not used once the service's is known: it may be set at any time, and the difference would
/// then be wrong.
struct OAuth1ServerClock: Sendable, Hashable {
  /// The service's date in an answer.
  let date: Date
  /// When the answer came, on the monotonic clock.
  let receivedAt: Duration

  /// The service's date at an instant of the monotonic clock.
  func date(at now: Duration) -> Date { date.addingTimeInterval((now - receivedAt) / .seconds(1)) }
}

extension OAuth1ServerClock {
  /// Why an answer may be a refusal of the timestamp.
  enum Refusal {
    /// It says so.
    case explicit
    /// It is a 401 that does not say why.
    case possible
  }

  /// The least difference that a 401 without a reason is put down to; services allow 300 s and more.
  static let tolerance: TimeInterval = 60

  /// Decides whether an answer refuses the timestamp.
  ///
  /// - Parameters:
  ///   - statusCode: The answer's status.
  ///   - challenge: Its `WWW-Authenticate` field.
  ///   - body: The beginning of its body.
  /// - Returns: `nil` if it does not.
  static func refusal(statusCode: Int, challenge: String?, body: Data) -> Refusal? {
    guard statusCode == 401 || statusCode == 400 else { return nil }
    let text = (challenge ?? "") + String(decoding: body.prefix(4096), as: UTF8.self)
    if text.contains("timestamp_refused") { return .explicit }
    return statusCode == 401 ? .possible : nil
  }

  /// Decides what a refusal tells of the service's clock.
  ///
  /// - Parameters:
  ///   - refusal: Why the answer may be a refusal of the timestamp.
  ///   - dateField: Its `Date` field.
  ///   - believed: What the service's date was believed to be when the answer came.
  ///   - now: When the answer came, on the monotonic clock.
  /// - Returns: The service's clock; `nil` if the timestamp was right by it, or it is not known.
  static func corrected(
    by refusal: Refusal, dateField: String?, believed: Date, now: Duration
  ) -> OAuth1ServerClock? {
    guard let dateField, let date = HTTPDateParser.date(dateField) else { return nil }
    let difference = abs(date.timeIntervalSince(believed))
    guard difference >= (refusal == .explicit ? 2 : tolerance) else { return nil }
    return OAuth1ServerClock(date: date, receivedAt: now)
  }
}

/// Reads the date format of HTTP that may be sent, IMF-fixdate (RFC 9110 §5.6.7).
enum HTTPDateParser {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// - Parameter text: A date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  /// - Returns: `nil` if it is in another form.
  static func date(_ text: String) -> Date? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", let day = number(parts[1], 1...31),
      let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], 1970...9999)
    else { return nil }
    let time = parts[4].split(separator: ":")
    guard time.count == 3, let hour = number(time[0], 0...23), let minute = number(time[1], 0...59),
      let second = number(time[2], 0...60)
    else { return nil }
    let days = daysSince1970(year: year, month: month + 1, day: day)
    return Date(timeIntervalSince1970: TimeInterval(days * 86_400 + hour * 3_600 + minute * 60 + second))
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let value = Int(text) else { return nil }
    return range.contains(value) ? value : nil
  }

  /// Counts years from March on, so that a leap day is the last of its year.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let days = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + days - 719_468
  }
}
