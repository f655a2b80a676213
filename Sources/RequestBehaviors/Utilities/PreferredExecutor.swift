/// The executor on which the work at hand prefers to run.
///
/// Child tasks inherit it by themselves. Other tasks do not, so the library gives it to those that it begins.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package enum PreferredExecutor {
  /// The executor of the work in which the current task was created; that task need not run there.
  @TaskLocal package static var bound: (any TaskExecutor)?

  /// The executor that the current task prefers; `nil` for the common pool.
  static var current: (any TaskExecutor)? {
    guard let bound else { return nil }
    let preferred = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
    return preferred == bound.asUnownedTaskExecutor() ? bound : nil
  }
}
