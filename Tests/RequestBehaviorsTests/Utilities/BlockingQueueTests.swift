import Dispatch
import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct BlockingQueueTests {
  private let queue = BlockingQueue(label: "test", isConcurrent: true)
  private let release = DispatchSemaphore(value: 0)
  private let started = Box(0)
  private let ended = Box(0)

  /// Adds work that blocks its thread until it is released.
  private func block(_ count: Int) {
    for _ in 0..<count {
      queue.async { [release, started, ended] in
        started.update { $0 += 1 }
        release.wait()
        ended.update { $0 += 1 }
      }
    }
  }

  private func wait(for box: Box<Int>, _ count: Int) async { while box.value < count { await Task.yield() } }

  @Test func `work that blocks leaves the threads of Swift concurrency free`() async {
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount
    block(count)
    await wait(for: started, count)
    // A thread for each processor would be taken now.
    for _ in 0..<100 { await Task.detached {}.value }
    #expect(ended.value == 0)
    for _ in 0..<count { release.signal() }
    await wait(for: ended, count)
  }

  @Test func `a concurrent queue has a number of threads, and all of its work runs`() async {
    let count = BlockingQueue.width + 10
    block(count)
    await wait(for: started, BlockingQueue.width)
    for _ in 0..<1_000 { await Task.yield() }
    #expect(started.value == BlockingQueue.width)
    for _ in 0..<count { release.signal() }
    await wait(for: ended, count)
    // All threads have ended, and new work gets one.
    block(1)
    release.signal()
    await wait(for: ended, count + 1)
  }
}
