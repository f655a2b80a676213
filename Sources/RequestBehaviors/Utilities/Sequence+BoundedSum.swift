extension Sequence<Int> {
  /// The sum, or the nearest number that there is: the numbers may be anything that a caller gives.
  var boundedSum: Int {
    reduce(0) { sum, number in
      let (next, overflows) = sum.addingReportingOverflow(number)
      return overflows ? (number < 0 ? .min : .max) : next
    }
  }
}
