public import RequestBehaviors

/// The number of rows that the behaviors of a request have saved: `response.info[SavedRows.self]`.
///
/// `.saveRecords` and `.ingest` set it. If several behaviors saved, their counts are added.
public enum SavedRows: ResponseInfoKey {
  /// The counts.
  public typealias Value = SQLiteSaveCounts
}
