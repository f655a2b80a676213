extension Double {
  /// The number as a share from 0 to 1, for a random number that a user makes; 1 if it is no number.
  var clampedShare: Double { isNaN ? 1 : min(max(self, 0), 1) }
}
