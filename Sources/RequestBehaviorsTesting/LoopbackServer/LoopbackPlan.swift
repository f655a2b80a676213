/// What the server does, step by step, to send a response.
struct LoopbackPlan {
  enum Step {
    case send(Range<Int>)
    case perform(LoopbackResponse.Effect.Conduct)
  }

  private(set) var steps: [Step] = []
  private var position = 0

  init(_ response: LoopbackResponse, wire: LoopbackWire) {
    let placed = response.effects.enumerated().compactMap { index, effect -> (offset: Int, index: Int)? in
      effect.point.offset(head: wire.headCount, body: wire.bodyCount).map { ($0, index) }
    }
    for place in placed.sorted(by: { ($0.offset, $0.index) < ($1.offset, $1.index) }) {
      send(upTo: place.offset, response, wire)
      steps.append(.perform(response.effects[place.index].conduct))
    }
    send(upTo: wire.count, response, wire)
  }

  private mutating func send(upTo end: Int, _ response: LoopbackResponse, _ wire: LoopbackWire) {
    guard let throttle = response.throttle else { return send(upTo: end) }
    send(upTo: min(end, wire.headCount))
    while position < end {
      let piece = (position - wire.headCount) / throttle.bytes + 1
      send(upTo: min(end, wire.headCount + piece * throttle.bytes))
      let isWholePiece = (position - wire.headCount) % throttle.bytes == 0
      if isWholePiece, position < wire.count { steps.append(.perform(.delay(throttle.interval))) }
    }
  }

  private mutating func send(upTo end: Int) {
    guard end > position else { return }
    steps.append(.send(position..<end))
    position = end
  }
}
