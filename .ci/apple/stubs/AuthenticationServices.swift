// What the sources use of AuthenticationServices, from memory of Apple's documentation.
@_exported public import Foundation

open class ASPresentationAnchor: NSObject {}
public struct ASWebAuthenticationSessionError: Error {
  public enum Code: Int, Sendable { case canceledLogin = 1, presentationContextNotProvided, presentationContextInvalid }
  public let code: Code
}
@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}
open class ASWebAuthenticationSession: NSObject {
  public typealias CompletionHandler = (URL?, (any Error)?) -> Void
  open class Callback: NSObject {
    open class func customScheme(_ customScheme: String) -> Self { fatalError() }
    open class func https(host: String, path: String) -> Self { fatalError() }
  }
  public init(url URL: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}
  public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}
  open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
  open var prefersEphemeralWebBrowserSession: Bool = false
  @discardableResult open func start() -> Bool { true }
  open func cancel() {}
}
