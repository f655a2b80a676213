import RequestBehaviorsSQLite
import Testing

/// What is shown of SQL.
@Suite struct SQLDescriptionTests {
  private let statement: SQL = "UPDATE account SET token = \("canary") WHERE id IN \(list: [7, 8])"

  @Test func `no way of showing SQL shows the values that are bound to it`() {
    var dumped = ""
    dump(statement, to: &dumped)
    let nested: SQL = "\(sql: statement) AND name = \("canary")"
    for text in ["\(statement)", String(reflecting: statement), "\([statement])", "\(nested)", dumped] {
      #expect(!text.contains("canary"), "\(text)")
      #expect(text.contains("token = ? WHERE id IN (?,?)"), "\(text)")
    }
    #expect(dumped.contains("3 values"))
  }

  @Test func `the description of SQL is its text`() {
    #expect("\(statement)" == statement.text)
    #expect(statement.arguments.count == 3)
  }
}
