import RequestBehaviors
import RequestBehaviorsTesting
import Testing

enum Region: RequestOption {
  static let defaultValue: String? = nil

  static func warning(
    for value: String?, in pipeline: Pipeline
  ) -> String? {
    warning("region", isObeyedBy: RegionBehavior.self, in: pipeline)
  }
}

extension RequestOptions {
  fileprivate var region: String? {
    get { self[Region.self] }
    set { self[Region.self] = newValue }
  }
}

struct RegionBehavior: RequestBehavior {
  func headers(for request: NetworkRequest) throws -> HeaderFields {
    request.options.region.map { ["X-Region": $0] } ?? [:]
  }
}

@Suite(.limited) struct OptionWarningReferenceTests {
  @Test func `an option of the app warns if nothing obeys it`() throws {
    let request = Request<Void>.get("x").with(\.region, "north")
    let deaf = NetworkClient(baseURL: baseURL)
    #expect(
      try deaf.pipeline(for: request).warnings == [
        "the option region is set, but nothing obeys it; list a RegionBehavior"
      ])
    let obedient = NetworkClient(baseURL: baseURL, behaviors: [RegionBehavior()])
    #expect(try obedient.pipeline(for: request).warnings.isEmpty)
  }
}
