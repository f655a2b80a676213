import Foundation

extension Pages {
  /// Checks that a page is on the first one's origin or on an allowed one, which gets no secrets.
  func check(_ url: URL, _ request: inout Request<Page>, after page: Response<Page>) throws {
    let own = Origin(try client.url(of: first))
    guard let origin = Origin(url), origin != own else { return }
    guard origins.contains(origin) else {
      throw NetworkError(
        .linkNotFollowed,
        "the next page is on \(origin), the first one on \(own?.description ?? "no origin"); allow the origin if the "
          + "server means it", response: page.http)
    }
    request.leave(own, for: origin, base: client.context.baseOrigin)
  }
}
