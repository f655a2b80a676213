import Foundation

extension Date {
  /// The date as text; a date that is no number has one too, although Foundation ends the process when it describes it.
  package var text: String { timeIntervalSince1970.isNaN ? "no date" : description }
}
