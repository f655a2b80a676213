/// The times that servers give as numbers.
enum EpochTime {
  /// Returns the seconds since 1970 of a number in seconds, or from 10¹² on in milliseconds, as JavaScript's are.
  ///
  /// In seconds, 10¹² is the year 33658. The end of the year 9999, which servers send for "never", is 253402300799.
  static func seconds(_ number: Double) -> Double { abs(number) < 1e12 ? number : number / 1_000 }
}
