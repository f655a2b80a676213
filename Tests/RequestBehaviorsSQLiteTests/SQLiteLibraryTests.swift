import RequestBehaviorsSQLite
import Testing

@Suite struct SQLiteLibraryTests {
  @Test func `the linked library is version 3`() { #expect(SQLiteLibrary.version.hasPrefix("3.")) }
}
