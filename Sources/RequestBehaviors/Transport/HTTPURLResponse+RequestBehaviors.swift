import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPHeaders {
  /// The fields of the platform's response, sorted by name, since their order is lost.
  init(_ response: HTTPURLResponse) {
    let fields = response.allHeaderFields.compactMap { name, value -> Field? in
      guard let name = name as? String, let value = value as? String else { return nil }
      return Field(name, value)
    }
    self.init(fields.sorted { $0.name < $1.name })
  }
}
