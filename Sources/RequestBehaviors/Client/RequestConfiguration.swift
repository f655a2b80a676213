public import Foundation

/// The parts of a ``NetworkClient``: the server, the behaviors, the settings of all requests.
///
/// ```swift
/// var configuration = RequestConfiguration(
///   baseURL: baseURL, behaviors: [.logging(), .acceptLanguage()])
/// configuration.options.timeout = .seconds(30)
/// configuration.decoder = snakeCaseDecoder
/// ```
public struct RequestConfiguration: Sendable {
  /// The behaviors of every request; sorted by their order when the client is made.
  public var behaviors: [any RequestBehavior]

  /// The types of built-in behaviors that no request uses; none by default.
  ///
  /// An example is `RedirectsBehavior.self`, if a behavior of yours replaces it.
  public var removedBehaviors: [any RequestBehavior.Type]

  /// The settings of every request; a request's own settings win.
  public var options: RequestOptions

  /// The encoder of request bodies; JSON by default.
  public var encoder: any BodyEncoder

  /// The decoder of response bodies; JSON by default.
  public var decoder: any BodyDecoder

  /// The clock of every wait and date; the system's by default.
  public var clock: RequestClock

  /// Creates a configuration.
  ///
  /// - Parameters:
  ///   - baseURL: The URL that paths are appended to; without one, every request needs a full URL.
  ///   - behaviors: The behaviors of every request; none by default.
  public init(baseURL: URL? = nil, behaviors: [any RequestBehavior] = []) {
    self.behaviors = behaviors
    self.removedBehaviors = []
    self.options = RequestOptions()
    self.encoder = RequestConfiguration.jsonEncoder
    self.decoder = RequestConfiguration.jsonDecoder
    self.clock = .system
    self.baseURL = baseURL
  }

  /// The URL that paths are appended to: a shorthand for the ``RequestOptions/environment`` of the ``options``.
  public var baseURL: URL? {
    get { options.environment?.baseURL }
    set { options.environment = newValue.map { ServerEnvironment(baseURL: $0) } }
  }

  /// A JSON decoder with Foundation's defaults.
  public static let jsonDecoder = JSONDecoder()

  /// A JSON encoder with Foundation's defaults, except that it does not escape slashes.
  public static let jsonEncoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return encoder
  }()
}
