import Foundation

extension Date {
  /// The date as text; "no date" for one that is not a number.
  ///
  /// Foundation ends the process when it describes such a date.
  package var text: String { timeIntervalSince1970.isNaN ? "no date" : description }
}
