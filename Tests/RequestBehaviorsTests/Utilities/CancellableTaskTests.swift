import Foundation
import RequestBehaviors
import TestSupport
import Testing

@Suite(.limited) struct CancellableTaskTests {
  @Test func `work begins on its caller's thread`() async throws {
    let task = CancellableTask<Bool>()
    let hasBegun = Locked(false)
    let gate = TestGate()
    let begun = task.begin(onThisThread: true) {
      hasBegun.withLock { $0 = true }
      await gate.pass()
      return true
    }
    #if os(Linux)
      #expect(hasBegun.withLock { $0 })
    #endif
    gate.open()
    #expect(try await begun.value)
  }

  #if os(Linux)
    @Test func `a thread begins one task after another, and nests up to sixteen`() {
      @Sendable func depth() -> Int {
        guard BegunTasks.obstacle == nil else { return 0 }
        let inner = Locked(0)
        _ = CancellableTask<Void>().begin(onThisThread: true) { inner.withLock { $0 = depth() } }
        return inner.withLock { $0 } + 1
      }
      for _ in 0..<20 { #expect(depth() == 16) }
    }
  #endif

  @Test func `work that computes is cancelled before it first waits`() async throws {
    let task = CancellableTask<Bool>()
    let value = try await task.run {
      // A thread of its own: such work may hold all threads of the pools.
      Thread.detachNewThread { task.cancel() }
      while !Task.isCancelled {}
      return true
    }
    #expect(value)
  }

  @Test func `work that computes is cancelled with its caller`() async throws {
    let caller = Task {
      try await CancellableTask<Bool>().run {
        while !Task.isCancelled {}
        return true
      }
    }
    caller.cancel()
    #expect(try await caller.value)
  }

  @Test func `work that is cancelled before it begins is cancelled from its beginning`() async throws {
    let task = CancellableTask<Bool>()
    task.cancel()
    #expect(try await task.run { Task.isCancelled })
    // On another thread it may begin, and end, before its creator knows it.
    for _ in 0..<2_000 {
      let other = CancellableTask<Bool>()
      other.cancel()
      #expect(try await other.begin(onThisThread: false) { Task.isCancelled }.value)
    }
  }

  @Test func `a task that is cancelled while it is being cancelled does not hang`() async throws {
    let task = CancellableTask<Bool>()
    let value = try await task.run {
      await withTaskCancellationHandler {
        Thread.detachNewThread { task.cancel() }
        while !Task.isCancelled {}
        return true
      } onCancel: {
        task.cancel()
      }
    }
    #expect(value)
  }

  @Test func `work gets the task-local values of its caller`() async throws {
    let trace = TraceContext.root()
    let found = try await TraceContext.$current.withValue(trace) {
      try await CancellableTask<TraceContext?>().run { TraceContext.current }
    }
    #expect(found == trace)
  }

  @Test func `the error of the work is thrown`() async {
    await #expect(throws: URLError.self) {
      try await CancellableTask<Bool>().run { throw URLError(.badURL) }
    }
  }
}
