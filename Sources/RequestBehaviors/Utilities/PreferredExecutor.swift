/// The executor on which the work at hand prefers to run.
///
/// Child tasks inherit it by themselves. Other tasks do not, so the library gives it to those that it begins.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package enum PreferredExecutor {
  /// The executor; `nil` for the common pool.
  @TaskLocal package static var current: (any TaskExecutor)?
}
