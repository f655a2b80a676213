import RequestBehaviors

/// Chooses the recorded entry that is played.
extension CassetteTransport {
  /// Takes the first entry that matches and is not used yet.
  func take(_ request: NetworkRequest) -> CassetteEntry? {
    let sketches = sketches(request)
    for sketch in sketches { if let entry = take(sketch) { return entry } }
    for sketch in sketches { if let entry = takeHidden(sketch) { return entry } }
    return nil
  }

  /// Takes the first unused entry that matches if the values that are hidden in it may be any text.
  ///
  /// A value that only a later request shows to be a credential is hidden in the file, and is not known to be one now.
  private func takeHidden(_ sketch: RequestSketch) -> CassetteEntry? {
    let entries = state.withLock { $0.entries }
    // At any place, because the value may be a part of the path.
    for index in entries.unusedHidden
    where sketch.matches(entries.all[index].sketch, matching, allowsHidden: true) {
      if state.withLock({ $0.entries.use(index) }) { return entries.all[index] }
    }
    return nil
  }

  private func take(_ sketch: RequestSketch) -> CassetteEntry? {
    let place = sketch.place
    // Compared outside of the lock, because a rule of the user may be slow, and may ask this transport.
    let entries = state.withLock { $0.entries }
    for index in entries.unusedIndices(of: place) where sketch.matches(entries.all[index].sketch, matching) {
      if state.withLock({ $0.entries.use(index) }) { return entries.all[index] }
    }
    guard matching.repeatsLast else { return nil }
    return entries.indices(of: place).last { sketch.matches(entries.all[$0].sketch, matching) }.map { entries.all[$0] }
  }
}
