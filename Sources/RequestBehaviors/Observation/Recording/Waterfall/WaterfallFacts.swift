extension RecordedCall {
  /// Whether the caller got an error or a status of 400 or more.
  var hasFailed: Bool {
    switch outcome {
    case .failure: true
    case .response(let statusCode): statusCode >= 400
    case .cancelled, .underWay: false
    }
  }

  /// A few words on how it ended.
  var note: String {
    switch outcome {
    case .underWay: return "under way"
    case .cancelled: return "cancelled"
    case .failure(let code, _):
      if code == "unacceptableStatus", case .response(let statusCode, _)? = sends.last?.outcome {
        return "\(statusCode)"
      }
      return code ?? "failed"
    case .response(let statusCode) where statusCode >= 400: return "\(statusCode)"
    case .response:
      switch source {
      case .cache?: return "cache"
      case .stale?: return "stale"
      case .coalesced?: return "shared"
      case .revalidated?: return "revalidated"
      default: return sends.count > 1 ? "\(sends.count) sends" : ""
      }
    }
  }
}

extension RecordedSend {
  /// Whether it failed or brought a status of 400 or more.
  var hasFailed: Bool {
    switch outcome {
    case .failure: true
    case .response(let statusCode, _): statusCode >= 400
    case .cancelled, .underWay: false
    }
  }

  /// The status or the code of the error.
  var shortOutcome: String {
    switch outcome {
    case .underWay: "under way"
    case .response(let statusCode, _): "\(statusCode)"
    case .failure(let code, _): code ?? "failed"
    case .cancelled: "cancelled"
    }
  }

  /// The number of bytes that arrived.
  var receivedBytes: Int {
    if case .response(_, let bytes?) = outcome { return bytes }
    return chunks.map(\.bytes).boundedSum
  }

  /// The size of a large body beside the status.
  var sizeNote: String { receivedBytes < 10_000 ? "" : " <em>\(WaterfallText.bytes(receivedBytes))</em>" }
}

extension RecordedDecision {
  /// The words below the bars; `nil` for a decision that says nothing about time.
  func caption(prerequisite: UInt64?) -> String? {
    switch (kind, duration) {
    case (.limit, let duration?): "limit: \(WaterfallText.duration(duration))"
    case (.authentication, .some): prerequisite.map { "token: call \($0)" } ?? "token"
    case (.gate, .some): "held"
    case (_, .some), (.redirect, _), (.hedge, _), (.circuitBreaker, _), (.retry, _): message
    default: nil
    }
  }
}

/// The phases of a send as bars within it.
struct WaterfallPhases {
  private let send: RecordedSend
  private let times: HARTimes
  /// The most ticks of one stream.
  private static let tickLimit = 200

  init(_ send: RecordedSend) {
    self.send = send
    times = HARTimes(send)
  }

  private var length: Double {
    max(((send.endedAt ?? send.startedAt) - send.startedAt).inSeconds, times.total.inSeconds, 1e-9)
  }

  private func share(_ duration: Duration) -> Double { duration.inSeconds / length * 100 }

  var bars: String {
    guard send.timings != nil else { return "" }
    let securing = times.ssl ?? .zero
    let connecting = times.connect.map { $0 - securing } ?? .zero
    let phases: [(name: String, title: String, length: Duration)] = [
      ("dns", "name lookup", times.lookup ?? .zero), ("tcp", "connecting", connecting), ("tls", "TLS", securing),
      ("ttfb", "waiting for the response", times.wait), ("recv", "receiving", times.receive),
    ]
    var left = share(times.blocked ?? .zero)
    var html = ""
    for phase in phases where phase.length > .zero {
      let width = share(phase.length)
      html +=
        "<i class=\"\(phase.name)\" style=\"left:\(WaterfallText.percent(left));"
        + "width:\(WaterfallText.percent(width))\" title=\"\(phase.title) "
        + "\(WaterfallText.escape(WaterfallText.duration(phase.length)))\"></i>"
      left += width
    }
    return html + ticks
  }

  /// The pieces of a streamed body.
  private var ticks: String {
    let stride = max(1, send.chunks.count / WaterfallPhases.tickLimit)
    return Swift.stride(from: 0, to: send.chunks.count, by: stride).map { index in
      let chunk = send.chunks[index]
      return "<b style=\"left:\(WaterfallText.percent(share(chunk.at - send.startedAt)))\" "
        + "title=\"\(WaterfallText.bytes(chunk.bytes))\"></b>"
    }.joined()
  }
}
