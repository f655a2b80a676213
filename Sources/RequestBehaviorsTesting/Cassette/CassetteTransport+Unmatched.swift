import Foundation
import RequestBehaviors

extension CassetteTransport {
  /// Returns the error of a request without an entry, which shows the nearest one.
  func unmatched(_ request: NetworkRequest) -> NetworkError {
    let sketches = sketches(request)
    let redaction = PlayableRedaction(redactor(for: request), numbered: false)
    let url = redaction.url(request.url.absoluteString)
    let entries = state.withLock { $0.entries }
    // Compared outside of the lock, because a rule of the user may be slow, and may ask this transport.
    let candidates = entries.all.enumerated().map { index, entry in
      let differences = sketches.map { $0.differences(to: entry.sketch, matching) }
      return Candidate(
        entry: entry, isUsed: entries.used.contains(index),
        isOfSamePlace: sketches.contains { $0.method == entry.sketch.method && $0.path == entry.sketch.path },
        differences: differences.min { $0.count < $1.count }?.map(redaction.hidden) ?? [])
    }
    let text = message(of: request.method.rawValue, url, candidates)
    state.withLock { $0.unmatched.append(text) }
    return NetworkError(.unmatchedRequest, text, request: request)
  }

  private struct Candidate {
    let entry: CassetteEntry
    let isUsed: Bool
    let isOfSamePlace: Bool
    let differences: [String]
  }

  private func message(of method: String, _ url: String, _ candidates: [Candidate]) -> String {
    var lines = ["no entry of \(file.name) is left for \(method) \(url)"]
    let same = candidates.filter(\.isOfSamePlace)
    let nearest = (same.isEmpty ? candidates : same).min {
      ($0.differences.count, $0.isUsed ? 1 : 0) < ($1.differences.count, $1.isUsed ? 1 : 0)
    }
    if let nearest {
      lines[0] += "; the nearest, entry \(nearest.entry.number):"
      lines.append("  " + (nearest.differences.first ?? "is the same, and has been used"))
    }
    if !same.isEmpty {
      let list = same.map { "\($0.entry.number) (\($0.isUsed ? "used" : "unused"))" }.joined(
        separator: ", ")
      lines.append("  entries for this method and path: \(list)")
    }
    return (lines + ["record it: \(file.command)"]).joined(separator: "\n")
  }
}
