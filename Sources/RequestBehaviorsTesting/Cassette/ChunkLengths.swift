import Foundation

/// The lengths of chunks in a body whose redaction changed its length.
struct ChunkLengths {
  let lengths: [Int]

  init(of lengths: [Int], in body: Data, shown: Data?) {
    guard let shown, shown.count != body.count else {
      self.lengths = lengths
      return
    }
    // Redaction keeps the lines, so a border between two lines stays one.
    let starts = ChunkLengths.lineStarts(body)
    let shownStarts = ChunkLengths.lineStarts(shown)
    var offset = 0
    var last = 0
    self.lengths = lengths.enumerated().map { index, length in
      offset += length
      var place =
        index == lengths.count - 1 ? shown.count : offset * shown.count / max(1, body.count)
      if index < lengths.count - 1, starts.count == shownStarts.count,
        let line = starts.lastIndex(where: { $0 <= offset })
      {
        let end = line + 1 < shownStarts.count ? shownStarts[line + 1] : shown.count
        place = min(shownStarts[line] + offset - starts[line], end)
      }
      defer { last = max(last, place) }
      return max(0, place - last)
    }
  }

  private static func lineStarts(_ data: Data) -> [Int] {
    [0] + data.enumerated().filter { $1 == UInt8(ascii: "\n") }.map { $0.offset + 1 }
  }
}
