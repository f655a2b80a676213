#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// Requests over a network of which four responses of ten fail, in a process of its own.
  @Suite(.limited) struct ResilienceSoakTests {
    // The thread sanitizer's own memory grows with what it watches.
    @Test(.disabled(if: ThreadSanitizer.isRunning, "memory cannot be measured under the thread sanitizer"))
    func `every request over a network that fails often ends in its response or in an error that explains it`()
      async throws
    {
      let program = try #require(ChildProcess.fixture("ResilienceSoak"))
      let count = 300
      let result = try await ChildProcess(program, ["\(count)"], keepsErrors: true).end()
      let figures = result.text.split(separator: "\n").first?.split(separator: " ").compactMap { Int($0) } ?? []
      try #require(result.status == 0 && figures.count == 7, "\(result.text)")
      let (threads, bytes, succeeded, failed, cancelled) = (figures[0], figures[1], figures[2], figures[3], figures[4])
      #expect(succeeded + failed + cancelled == count)
      #expect(succeeded > count * 3 / 4)
      // The system's pools grow and shrink by a few, and the allocator keeps what it has.
      #expect(threads <= 30)
      #expect(bytes <= 16 << 20)
    }
  }
#endif
