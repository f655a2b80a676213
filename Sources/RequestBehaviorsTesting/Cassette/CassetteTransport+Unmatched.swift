import Foundation
import RequestBehaviors

extension CassetteTransport {
  /// Returns the error of a request without an entry, which shows the nearest one.
  func unmatched(_ request: NetworkRequest) -> NetworkError {
    let sketch = sketch(request)
    let url = PlayableRedaction(redactor(for: request), numbered: false)
      .url(request.url.absoluteString)
    let text = state.withLock { state -> String in
      let candidates = state.entries.all.enumerated().map { index, entry in
        Candidate(
          entry: entry, isUsed: state.entries.used.contains(index),
          differences: sketch.differences(to: entry.sketch, matching))
      }
      let text = message(of: request.method.rawValue, url, candidates, sketch)
      state.unmatched.append(text)
      return text
    }
    return NetworkError(.unmatchedRequest, text, request: request)
  }

  private struct Candidate {
    let entry: CassetteEntry
    let isUsed: Bool
    let differences: [String]

    func isOfSamePlace(_ sketch: RequestSketch) -> Bool {
      entry.sketch.method == sketch.method && entry.sketch.path == sketch.path
    }
  }

  private func message(
    of method: String, _ url: String, _ candidates: [Candidate], _ sketch: RequestSketch
  ) -> String {
    var lines = ["no entry of \(file.name) is left for \(method) \(url)"]
    let same = candidates.filter { $0.isOfSamePlace(sketch) }
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
