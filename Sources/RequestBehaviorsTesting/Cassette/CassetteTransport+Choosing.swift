import RequestBehaviors

/// Chooses the recorded entry that is played.
extension CassetteTransport {
  /// Takes the first entry that matches and is not used yet.
  func take(_ request: NetworkRequest) -> CassetteEntry? {
    for sketch in sketches(request) { if let entry = take(sketch) { return entry } }
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
