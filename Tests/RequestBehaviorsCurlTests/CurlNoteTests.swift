#if canImport(CRequestBehaviorsCurl)
  import RequestBehaviorsCurl
  import Testing

  /// The notes in which versions of libcurl tell that a request was refused.
  @Suite(.limited) struct CurlNoteTests {
    private func note(_ text: String) -> CurlNote? { Array(text.utf8).withUnsafeBytes { CurlNote($0) } }

    @Test(arguments: [
      ("Using Stream ID: 5 (easy handle 0x7f90f41d2600)", CurlNote.stream(5)),
      ("[HTTP/2] [19] OPENED stream for https://localhost:43471/7", .stream(19)),
      ("recveived GOAWAY, error=0, last_stream=3", .goAway(3)),
      ("received GOAWAY, error=11, last_stream=2147483647", .goAway(2_147_483_647)),
      ("Connection died, retrying a fresh connect (retry count: 1)", .connectionDied),
      ("Connection died, tried 5 times before giving up", .connectionDied),
      ("REFUSED_STREAM, retrying a fresh connect", .refused),
      ("HTTP/2 stream 5 refused by server, try again on a new connection", .refused),
    ])
    func `a note is read, with and without an end of line`(text: String, meaning: CurlNote) {
      #expect(note(text) == meaning)
      #expect(note(text + "\n") == meaning)
    }

    @Test(arguments: [
      "", "\n", "[", "[HTTP/2] [", "[HTTP/2] [x] OPENED", "Using Stream ID: ", "received GOAWAY, error=0, last_stream=",
      "received GOAWAY, error=0, last_stream=99999999999999999999", "HTTP/2 stream 5 was not closed cleanly",
      "Connection #0 to host localhost left intact", "Request completely sent off", "REFUSED",
    ])
    func `a note of another wording is ignored`(text: String) {
      #expect(note(text) == nil)
    }
  }
#endif
