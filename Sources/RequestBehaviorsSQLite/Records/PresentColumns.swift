/// The columns for which a record has encoded a value, or nil.
///
/// The memory is not managed by Swift, and a column is noted by two stores: it is done for each value of a row.
final class PresentColumns {
  /// The number of the record that encoded each column last.
  private var records: UnsafeMutablePointer<Int>
  private var capacity = 64
  private var record = 0
  /// The number of columns that the current record has encoded.
  private(set) var count = 0

  init() {
    records = .allocate(capacity: capacity)
    records.initialize(repeating: 0, count: capacity)
  }

  deinit { records.deallocate() }

  /// Begins the next record, which has encoded no column yet.
  @inline(__always)
  func begin() {
    record += 1
    count = 0
  }

  /// Notes that the current record has encoded a column.
  @inline(__always)
  func note(_ column: Int32) {
    let column = Int(column)
    if column >= capacity { grow(to: column + 1) }
    guard records[column] != record else { return }
    records[column] = record
    count += 1
  }

  /// The indexes of the columns that the current record has encoded, in ascending order.
  var indexes: [Int] { (0..<capacity).filter { records[$0] == record } }

  private func grow(to count: Int) {
    let larger = UnsafeMutablePointer<Int>.allocate(capacity: 2 * count)
    larger.initialize(repeating: 0, count: 2 * count)
    larger.update(from: records, count: capacity)
    records.deallocate()
    (records, capacity) = (larger, 2 * count)
  }
}
