import Foundation

/// The number of a send, and the call under which it is kept.
struct SendPlace: Sendable, Hashable {
  /// The call that a user made, or that one needed.
  let call: Call.ID
  /// The call that made the send: another one for a shared flight.
  let sender: Call.ID
  let number: Int

  init(_ request: NetworkRequest) {
    call = request.call.servedID
    sender = request.call.id
    number = request.attemptNumber
  }

  /// Whether a shared flight makes the send.
  var isOfFlight: Bool { call != sender }
}

/// The facts of one send, not redacted yet.
struct StoredSend: Sendable {
  let place: SendPlace
  let method: RequestMethod
  let url: URL
  let startedAt: Duration
  let requestHeaders: HeaderFields
  let requestBytes: Int64?
  let requestBody: Data?
  let requestType: String?
  var endedAt: Duration?
  var outcome = Attempt.Outcome.pending
  var timings: ResponseTimings?
  var responseHeaders = HeaderFields()
  /// The beginning of the response's body, and the length of what has arrived.
  var responseBody: Data?
  var responseBytes = 0
  var chunks: [RecordedSend.Chunk] = []
  /// The most chunks of one send; the last one holds all that follow.
  private static let chunkLimit = 1_000

  /// Takes the facts of an attempt that are not known when it begins, and returns the added size in bytes.
  mutating func note(_ attempt: Attempt) -> Int {
    (endedAt, outcome, timings) = (attempt.endedAt, attempt.outcome, attempt.timings)
    // An attempt that has failed is told once.
    return if case .failure(_, let message) = outcome { message.utf8.count } else { 0 }
  }

  /// Takes a chunk of the response, and returns the added size in bytes.
  mutating func note(_ chunk: RecordedSend.Chunk) -> Int {
    responseBytes += chunk.bytes
    guard let last = chunks.indices.last, chunks.count == StoredSend.chunkLimit else {
      chunks.append(chunk)
      return 24
    }
    chunks[last] = RecordedSend.Chunk(at: chunk.at, bytes: chunks[last].bytes + chunk.bytes)
    return 0
  }
}

/// The facts of one call, not redacted yet.
struct StoredCall: Sendable {
  let id: Call.ID
  let parent: Call.ID?
  let purpose: Call.Purpose
  let method: RequestMethod?
  let url: URL?
  let endpoint: String
  let startedAt: Duration
  /// The call itself while it is under way, for its decisions and secrets; `nil` when it has ended.
  ///
  /// It refers to no request or response, and every call ends.
  private(set) var call: Call?
  var endedAt: Duration?
  var outcome = RecordedCall.Outcome.underWay
  var source: ResponseSource?
  var sends: [StoredSend] = []
  /// The decisions of the call, as of its end.
  private var ownDecisions: [Call.Event] = []
  /// The secrets of the call, as of its end.
  private var ownSecrets: CallSecrets?
  /// The owners of the call, as of its end.
  private var ownOwner: CallOwner?
  /// The decisions, secrets and owners of the shared flights that the call began, which have no end of their own.
  private var flights: [Flight] = []
  /// The owners of calls that this one was made for, as of when a limit dropped these.
  private var inheritedOwners: [CallOwner] = []
  /// The estimated size in bytes.
  var size = 700

  /// The facts of a shared flight.
  private struct Flight: Sendable {
    let id: Call.ID
    var decisions: [Call.Event]
    var secrets: CallSecrets
    var owner: CallOwner
  }

  init(_ call: Call, _ method: RequestMethod? = nil, _ url: URL? = nil, endpoint: String = "") {
    (id, parent, purpose, startedAt, self.call) = (call.id, call.parent, call.purpose, call.startedAt, call)
    (self.method, self.url, self.endpoint) = (method, url, endpoint)
    size += (url?.size ?? 0) + endpoint.utf8.count
  }

  /// Whether none of the users whose call it is has signed out since it began.
  var isPresent: Bool {
    // A flight may be sent for a user who signed in after the call had begun.
    ((call?.owner ?? ownOwner)?.isPresent ?? true) && flights.allSatisfy(\.owner.isPresent)
      && inheritedOwners.allSatisfy(\.isPresent)
  }

  /// Takes over the owners of a call that is dropped, if this one was made for it or for one of its flights.
  mutating func inherit(from dropped: StoredCall) {
    guard let parent, parent == dropped.id || dropped.flightIDs.contains(parent) else { return }
    inheritedOwners += [dropped.call?.owner ?? dropped.ownOwner].compactMap(\.self)
    inheritedOwners += dropped.flights.map(\.owner) + dropped.inheritedOwners
  }

  /// Whether a user whose call it is had signed out before the call ended; the error may be about that.
  private(set) var hasOutlivedUser = false

  /// Whether the call has not ended.
  var isUnderWay: Bool { call != nil }

  /// The shared flights that the call began.
  var flightIDs: [Call.ID] { sends.map(\.place.sender) + flights.map(\.id) }

  /// The decisions of the call and of its flights.
  var decisions: [Call.Event] {
    let own = call?.ownEvents ?? ownDecisions
    return flights.isEmpty ? own : (own + flights.flatMap(\.decisions)).sorted { $0.at < $1.at }
  }

  /// The secrets of the call and of its flights.
  var secrets: [CallSecrets] { [call?.secrets ?? ownSecrets].compactMap(\.self) + flights.map(\.secrets) }

  /// Notes what a shared flight has decided, its secrets and its owners, as of now.
  mutating func note(flight: Call) -> Int {
    let events = flight.ownEvents
    let index = flights.firstIndex { $0.id == flight.id } ?? flights.endIndex
    if index == flights.endIndex {
      flights.append(Flight(id: flight.id, decisions: [], secrets: flight.secrets, owner: flight.owner))
    }
    let added = events[min(flights[index].decisions.count, events.count)...]
    flights[index].decisions = events
    (flights[index].secrets, flights[index].owner) = (flight.secrets, flight.owner)
    return added.reduce(0) { $0 + StoredCall.size(of: $1) }
  }

  /// Lets go of the call, and keeps what is known of it at its end.
  mutating func end(_ decisions: [Call.Event], _ secrets: CallSecrets, _ owner: CallOwner) -> Int {
    (call, ownDecisions, ownSecrets, ownOwner) = (nil, decisions, secrets, owner)
    hasOutlivedUser = !isPresent
    return decisions.reduce(100) { $0 + StoredCall.size(of: $1) }
  }

  /// Makes a change, and adds the number of bytes that it returns to the size.
  mutating func change(by change: (inout StoredCall) -> Int) -> Int {
    let added = change(&self)
    size += added
    return added
  }

  private static func size(of decision: Call.Event) -> Int { 150 + decision.message.utf8.count }
}

extension URL {
  /// The estimated size in memory.
  var size: Int { absoluteString.utf8.count }
}
