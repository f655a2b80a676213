#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviorsCurl
  import Testing

  /// Which connection a closure alert belongs to, as OpenSSL gives the address of an old connection to a new one.
  @Suite(.limited) struct CurlTLSEndTests {
    /// The address of a connection, which no connection of OpenSSL has while the test runs.
    private let connection = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

    @Test func `a mark that is released late leaves the next one at its address alone`() {
      defer { connection.deallocate() }
      var old: CurlTLSEnd? = CurlTLSEnd(connection)
      let new = CurlTLSEnd(connection)
      #expect(old?.isProper == false)
      old = nil
      CurlTLSEnd.note(connection)
      #expect(new.isProper)
    }

    @Test func `an alert of a new connection does not count for the previous connection at the same address`() {
      defer { connection.deallocate() }
      let (old, new) = (CurlTLSEnd(connection), CurlTLSEnd(connection))
      CurlTLSEnd.note(connection)
      #expect(!old.isProper)
      #expect(new.isProper)
    }

    @Test func `an alert counts before the mark is stopped, and not after`() {
      defer { connection.deallocate() }
      let early = CurlTLSEnd(connection)
      early.stop()
      CurlTLSEnd.note(connection)
      #expect(!early.isProper)
      let late = CurlTLSEnd(connection)
      CurlTLSEnd.note(connection)
      late.stop()
      #expect(late.isProper)
    }
  }
#endif
