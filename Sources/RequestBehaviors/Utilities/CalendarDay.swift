/// A day of the Gregorian calendar, also in the time before there was one.
///
/// It is arithmetic alone, without Foundation's calendars. It is inlined, because another module writes and reads the
/// dates of rows with it.
package struct CalendarDay {
  package let year: Int
  package let month: Int
  package let day: Int

  /// Creates a day; `nil` if the month has no such day, or the year no such month.
  @inlinable
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), day >= 1, day <= CalendarDay.length(ofMonth: month, in: year) else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Creates a day from the number of days since 1 January 1970, which may be negative.
  @inlinable
  package init(daysSince1970 days: Int) {
    // Years begin in March, so that a leap day is the last of its year, and an era has 400 years.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (monthFromMarch < 10 ? 0 : 1)
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  }

  /// The number of days since 1 January 1970; negative before.
  @inlinable
  package var daysSince1970: Int {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The number of days of a month.
  @inlinable
  package static func length(ofMonth month: Int, in year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
