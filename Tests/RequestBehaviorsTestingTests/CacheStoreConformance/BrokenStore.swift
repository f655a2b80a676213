import Foundation
import RequestBehaviors
import RequestBehaviorsCaching
import RequestBehaviorsTesting

/// MemoryCacheStore with one flaw.
///
/// It stands in for the mistakes that a store of a user's own makes: a column that is forgotten, a condition that is too
/// wide, an order that is the wrong way round.
final class BrokenStore: CacheStore {
  enum Flaw: CaseIterable {
    // What is kept.
    case losesATerm, losesVerification, losesSecrecy, cutsDates, joinsFields, cutsBodies, keepsBodiesOfEntries
    // What it is found by.
    case ignoresScopes, joinsScopes, ignoresDiscriminators, ignoresCase, ignoresVariants, keepsOneVariant
    case findsTheFirst, findsTheLast, keepsWhatIsReplaced
    // What changes it.
    case updatesWithTheBody, updatesWhatIsGone, updatesWhatIsReplaced, updatesTermsOnly, removesWhatIsReplaced
    case removesByPrefix, removesByFirstScope, removesScopesByText, removesNothingWhenCancelled
    // What is counted.
    case countsNothing, countsURLsOnly, forgetsResets, refusesTooMuch, forgetsOldRemovals, checksTooEarly
    case replacesBeforeItChecks
    // How much is kept, and how it is listed.
    case isNotBounded, forgetsUses, tellsNoEvictions, makesRoomInVain, keepsWhatIsTooLarge, limitsByURL
    case listsTheOldestFirst, ignoresLimits, sharesItsDigestKey
  }

  let digestKey: Data
  let maximumBodySize = 1 << 20
  private let flaw: Flaw
  private let base: MemoryCacheStore
  private let lock = NSLock()
  // What was saved, in that order; protected by `lock`.
  nonisolated(unsafe) private var saved: [(key: CacheKey, response: StoredResponse)] = []

  init(_ flaw: Flaw, capacity: Int) {
    self.flaw = flaw
    base = MemoryCacheStore(capacity: flaw == .isNotBounded || flaw == .makesRoomInVain ? .max : capacity)
    digestKey = flaw == .sharesItsDigestKey ? Data(count: 32) : base.digestKey
  }

  // MARK: - Keys and values

  private func key(_ key: CacheKey) -> CacheKey {
    switch flaw {
    case .ignoresScopes: CacheKey(url: key.url, scopes: [], discriminator: key.discriminator)
    case .joinsScopes:
      CacheKey(url: key.url, scopes: [key.scopes.joined(separator: "\n")], discriminator: key.discriminator)
    case .ignoresDiscriminators: CacheKey(url: key.url, scopes: key.scopes, discriminator: "")
    case .ignoresCase: CacheKey(url: key.url.lowercased(), scopes: key.scopes, discriminator: key.discriminator)
    default: key
    }
  }

  private func kept(_ response: StoredResponse) -> StoredResponse {
    var (headers, variant, body) = (response.headers, response.variant, response.body)
    var (terms, storedAt, verification) = (response.terms, response.storedAt, response.verification)
    switch flaw {
    case .losesATerm: terms.forbidsStale = false
    case .losesVerification: verification = .none
    case .losesSecrecy: headers = HeaderFields(headers.map { .init($0.name, $0.value) })
    case .cutsDates: storedAt = Date(timeIntervalSince1970: storedAt.timeIntervalSince1970.rounded())
    case .joinsFields:
      headers = HeaderFields(Set(headers.map { $0.name.lowercased() }).sorted().map { .init($0, headers[$0] ?? "") })
    case .cutsBodies: body = Data(body.prefix(65_536))
    case .ignoresVariants: variant = CacheVariant(fields: [])
    default: break
    }
    var result = StoredResponse(
      statusCode: response.statusCode, headers: headers, body: body, variant: variant, storedAt: storedAt, terms: terms)
    result.verification = verification
    return result
  }

  // MARK: - The store

  func response(for key: CacheKey, matching request: HeaderFields) async throws -> StoredResponse? {
    let key = self.key(key)
    switch flaw {
    case .findsTheFirst, .findsTheLast:
      // In the order in which they were saved, whatever their dates.
      let own = lock.withLock { saved.filter { $0.key == key && $0.response.variant.matches(request) } }
      return (flaw == .findsTheFirst ? own.first : own.last)?.response
    case .forgetsUses:
      // As if no response were used: the one found is saved again in its place.
      let before = await base.entries(limit: .max).reversed().map(\.key)
      let found = await base.response(for: key, matching: request)
      for other in before { _ = await base.response(for: other, matching: request) }
      return found
    default: return await base.response(for: key, matching: request)
    }
  }

  func mark() async throws -> CacheMark {
    let mark = await base.mark()
    return flaw == .countsNothing ? CacheMark(0) : mark
  }

  func save(
    _ response: StoredResponse, for key: CacheKey, matching request: HeaderFields, since mark: CacheMark
  ) async throws -> CacheSaving {
    let own = self.key(key)
    lock.withLock { saved.append((own, response)) }
    switch flaw {
    case .countsNothing: return .stored(evicting: await base.save(kept(response), for: own, matching: request))
    case .refusesTooMuch where await base.mark() != mark: return .refused(.changedMeanwhile)
    case .checksTooEarly:
      guard await base.mark() == mark else { return .refused(.changedMeanwhile) }
      await Task.yield()
      for _ in 0..<3 { await Task.yield() }
      return .stored(evicting: await base.save(response, for: own, matching: request))
    case .replacesBeforeItChecks:
      for old in await base.entries(limit: .max) where old.key == own { await base.remove(old.response, for: own) }
    case .forgetsOldRemovals:
      let latest = await base.mark()
      if latest.number - mark.number > 1_000 {
        return try await save(response, for: key, matching: request, since: latest)
      }
    case .keepsOneVariant:
      for old in await base.entries(limit: .max) where old.key == own { await base.remove(old.response, for: own) }
    case .keepsWhatIsReplaced:
      return await base.save(kept(response), for: own, matching: matching(response.variant), since: mark)
    case .isNotBounded: return .stored(evicting: await base.save(response, for: own, matching: request))
    case .makesRoomInVain:
      guard response.size <= 1 << 20 else {
        await base.removeAll()
        return .refused(.tooLarge)
      }
    case .keepsWhatIsTooLarge where response.size > 1 << 20: return .refused(.tooLarge)
    case .limitsByURL:
      let others = await base.entries(limit: .max).filter { $0.key.url == own.url }
      if others.count >= 64, let oldest = others.last { await base.remove(oldest.response, for: oldest.key) }
    default: break
    }
    let saving = await base.save(kept(response), for: own, matching: request, since: mark)
    return flaw == .tellsNoEvictions && saving.refusal == nil ? .stored() : saving
  }

  /// Fields that a variant matches and as few others as can be.
  private func matching(_ variant: CacheVariant) -> HeaderFields {
    var fields = HeaderFields(variant.fields.compactMap { field in field.value.map { .init(field.name, $0) } })
    if fields.isEmpty { fields = ["X-Never": "1"] }
    return fields
  }

  func save(_ response: StoredResponse, for key: CacheKey, matching request: HeaderFields) async throws -> Int {
    await base.save(kept(response), for: self.key(key), matching: request)
  }

  func update(_ old: StoredResponse, to new: StoredResponse, for key: CacheKey) async throws {
    let own = self.key(key)
    switch flaw {
    case .updatesWithTheBody:
      for entry in await base.entries(limit: .max) where entry.key == own && entry.response.isSame(as: old) {
        _ = await base.save(new, for: own, matching: matching(old.variant))
      }
    case .updatesWhatIsGone:
      var whole = new
      whole.body = old.body
      _ = await base.save(whole, for: own, matching: matching(old.variant))
    case .updatesWhatIsReplaced:
      guard var current = await base.response(for: own, matching: matching(old.variant)) else { return }
      current = current.isSame(as: old) ? current : old
      guard let stored = await base.response(for: own, matching: matching(old.variant)) else { return }
      await base.update(stored, to: new, for: own)
    case .updatesTermsOnly:
      await base.update(
        old,
        to: StoredResponse(
          statusCode: old.statusCode, headers: old.headers, body: Data(), variant: old.variant,
          storedAt: old.storedAt, terms: new.terms), for: own)
    default: await base.update(old, to: kept(new), for: own)
    }
  }

  func remove(_ response: StoredResponse, for key: CacheKey) async throws {
    let own = self.key(key)
    guard flaw == .removesWhatIsReplaced else { return await base.remove(response, for: own) }
    guard let current = await base.response(for: own, matching: matching(response.variant)) else { return }
    await base.remove(current, for: own)
  }

  func removeAll(url: String) async throws {
    if flaw == .removesByPrefix {
      for key in await base.entries(limit: .max).map(\.key) where key.url.hasPrefix(url) {
        await base.removeAll(url: key.url)
      }
    }
    if flaw == .removesNothingWhenCancelled, Task.isCancelled { return }
    await base.removeAll(url: flaw == .ignoresCase ? url.lowercased() : url)
  }

  func removeAll(scope: String) async throws {
    switch flaw {
    case .countsURLsOnly:
      for entry in await base.entries(limit: .max) where entry.key.scopes.contains(scope) {
        await base.remove(entry.response, for: entry.key)
      }
    case .removesByFirstScope, .removesScopesByText:
      for entry in await base.entries(limit: .max) {
        let scopes = entry.key.scopes
        let isMeant =
          flaw == .removesByFirstScope
          ? scopes.first == scope : !scopes.isEmpty && scopes.joined(separator: "\n").contains(scope)
        if isMeant { await base.remove(entry.response, for: entry.key) }
      }
      if flaw == .removesScopesByText { await base.removeAll(scope: scope) }
    case .removesNothingWhenCancelled where Task.isCancelled: return
    default: await base.removeAll(scope: scope)
    }
  }

  func removeAll() async throws {
    if flaw == .removesNothingWhenCancelled, Task.isCancelled { return }
    guard flaw == .forgetsResets else { return await base.removeAll() }
    for entry in await base.entries(limit: .max) { await base.remove(entry.response, for: entry.key) }
  }

  func entries(limit: Int) async throws -> [CacheEntry] {
    var entries = await base.entries(limit: flaw == .ignoresLimits ? .max : limit)
    if flaw == .listsTheOldestFirst { entries = await base.entries(limit: .max).reversed().prefix(limit).map { $0 } }
    guard flaw == .keepsBodiesOfEntries else { return entries }
    return entries.map { entry in
      var response = entry.response
      response.body = Data(count: entry.bodySize)
      return CacheEntry(key: entry.key, response: response, bodySize: entry.bodySize)
    }
  }
}
