@_exported import Darwin
// What Apple's Foundation declares where corelibs has FoundationNetworking, with the annotations of the Xcode 26 SDK as
// far as known from its headers: completion handlers are NS_SWIFT_SENDABLE, classes NS_SWIFT_SENDABLE.
// Members that the sources implement of the delegate protocols are requirements here (optional in Objective-C), so that
// a signature that does not match is an error instead of silence.
//
// From memory of Apple's documentation: what concerns trust, credentials, caches, protocol classes, metrics and
// activities of the process.
@_exported import Dispatch
@_exported import Foundation
public import Security

public struct URLError: Error, Sendable, Hashable {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static var unknown: Code { .init(rawValue: -1) }
    public static var cancelled: Code { .init(rawValue: -999) }
    public static var badURL: Code { .init(rawValue: -1000) }
    public static var timedOut: Code { .init(rawValue: -1001) }
    public static var unsupportedURL: Code { .init(rawValue: -1002) }
    public static var cannotFindHost: Code { .init(rawValue: -1003) }
    public static var cannotConnectToHost: Code { .init(rawValue: -1004) }
    public static var networkConnectionLost: Code { .init(rawValue: -1005) }
    public static var dnsLookupFailed: Code { .init(rawValue: -1006) }
    public static var httpTooManyRedirects: Code { .init(rawValue: -1007) }
    public static var resourceUnavailable: Code { .init(rawValue: -1008) }
    public static var notConnectedToInternet: Code { .init(rawValue: -1009) }
    public static var redirectToNonExistentLocation: Code { .init(rawValue: -1010) }
    public static var badServerResponse: Code { .init(rawValue: -1011) }
    public static var userCancelledAuthentication: Code { .init(rawValue: -1012) }
    public static var userAuthenticationRequired: Code { .init(rawValue: -1013) }
    public static var zeroByteResource: Code { .init(rawValue: -1014) }
    public static var cannotDecodeRawData: Code { .init(rawValue: -1015) }
    public static var cannotDecodeContentData: Code { .init(rawValue: -1016) }
    public static var cannotParseResponse: Code { .init(rawValue: -1017) }
    public static var internationalRoamingOff: Code { .init(rawValue: -1018) }
    public static var callIsActive: Code { .init(rawValue: -1019) }
    public static var dataNotAllowed: Code { .init(rawValue: -1020) }
    public static var requestBodyStreamExhausted: Code { .init(rawValue: -1021) }
    public static var appTransportSecurityRequiresSecureConnection: Code { .init(rawValue: -1022) }
    public static var fileDoesNotExist: Code { .init(rawValue: -1100) }
    public static var fileIsDirectory: Code { .init(rawValue: -1101) }
    public static var noPermissionsToReadFile: Code { .init(rawValue: -1102) }
    public static var dataLengthExceedsMaximum: Code { .init(rawValue: -1103) }
    public static var secureConnectionFailed: Code { .init(rawValue: -1200) }
    public static var serverCertificateHasBadDate: Code { .init(rawValue: -1201) }
    public static var serverCertificateUntrusted: Code { .init(rawValue: -1202) }
    public static var serverCertificateHasUnknownRoot: Code { .init(rawValue: -1203) }
    public static var serverCertificateNotYetValid: Code { .init(rawValue: -1204) }
    public static var clientCertificateRejected: Code { .init(rawValue: -1205) }
    public static var clientCertificateRequired: Code { .init(rawValue: -1206) }
    public static var cannotLoadFromNetwork: Code { .init(rawValue: -2000) }
  }
  public let code: Code
  public init(_ code: Code, userInfo: [String: Any] = [:]) { self.code = code }
  public var errorCode: Int { code.rawValue }
  public var userInfo: [String: Any] { [:] }
  public var localizedDescription: String { "" }
  public var failingURL: URL? { nil }
}

public struct URLRequest: Hashable, Sendable {
  public enum CachePolicy: UInt, Sendable {
    case useProtocolCachePolicy, reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData,
      returnCacheDataElseLoad, returnCacheDataDontLoad, reloadRevalidatingCacheData
  }
  public enum NetworkServiceType: UInt, Sendable { case `default` }
  public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0) {}
  public var url: URL?
  public var cachePolicy: CachePolicy = .useProtocolCachePolicy
  public var timeoutInterval: TimeInterval = 60
  public var mainDocumentURL: URL?
  public var allowsCellularAccess = true
  public var allowsExpensiveNetworkAccess = true
  public var allowsConstrainedNetworkAccess = true
  public var assumesHTTP3Capable = false
  public var httpMethod: String?
  public var allHTTPHeaderFields: [String: String]?
  public func value(forHTTPHeaderField field: String) -> String? { nil }
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
  public var httpBody: Data?
  public var httpBodyStream: InputStream? {
    get { nil }
    set {}
  }
  public var httpShouldHandleCookies = true
  public var httpShouldUsePipelining = false
}

open class URLResponse: NSObject, @unchecked Sendable {
  public init(url: URL, mimeType: String?, expectedContentLength: Int, textEncodingName: String?) {}
  open var url: URL? { nil }
  open var mimeType: String? { nil }
  open var expectedContentLength: Int64 { 0 }
  open var textEncodingName: String? { nil }
  open var suggestedFilename: String? { nil }
}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { return nil }
  open var statusCode: Int { 0 }
  open var allHeaderFields: [AnyHashable: Any] { [:] }
  open func value(forHTTPHeaderField field: String) -> String? { nil }
  open class func localizedString(forStatusCode statusCode: Int) -> String { "" }
}

open class URLCache: NSObject, @unchecked Sendable {
  open class var shared: URLCache { fatalError() }
  public enum StoragePolicy: UInt, Sendable { case allowed, allowedInMemoryOnly, notAllowed }
}
open class HTTPCookieStorage: NSObject, @unchecked Sendable {
  open func cookies(for url: URL) -> [HTTPCookie]? { fatalError() }
  open func removeCookies(since date: Date) { fatalError() }
}
open class HTTPCookie: NSObject, @unchecked Sendable {
  public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }
}
open class URLCredentialStorage: NSObject, @unchecked Sendable {
  open class var shared: URLCredentialStorage { fatalError() }
}
open class URLCredential: NSObject, @unchecked Sendable {
  public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
  public init(trust: SecTrust) {}
  public init(identity: SecIdentity, certificates certArray: [Any]?, persistence: URLCredential.Persistence) {}
}
open class URLProtectionSpace: NSObject, @unchecked Sendable {
  open var host: String { "" }
  open var port: Int { 0 }
  open var authenticationMethod: String { "" }
  open var serverTrust: SecTrust? { nil }
}
public let NSURLAuthenticationMethodServerTrust = "trust"
public let NSURLAuthenticationMethodClientCertificate = "certificate"
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  open var failureResponse: URLResponse? { nil }
  open var protectionSpace: URLProtectionSpace { fatalError() }
}
public protocol URLProtocolClient: NSObjectProtocol {
  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy)
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
}
open class URLProtocol: NSObject {
  open class func canInit(with request: URLRequest) -> Bool { false }
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  open var request: URLRequest { fatalError() }
  open var client: (any URLProtocolClient)? { nil }
  open func startLoading() {}
  open func stopLoading() {}
}

open class URLSessionConfiguration: NSObject, @unchecked Sendable {
  open class var `default`: URLSessionConfiguration { fatalError() }
  open class var ephemeral: URLSessionConfiguration { fatalError() }
  open class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
  open var identifier: String? { nil }
  open var requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy
  open var timeoutIntervalForRequest: TimeInterval = 60
  open var timeoutIntervalForResource: TimeInterval = 604800
  open var networkServiceType: URLRequest.NetworkServiceType = .default
  open var allowsCellularAccess = true
  open var allowsExpensiveNetworkAccess = true
  open var allowsConstrainedNetworkAccess = true
  open var waitsForConnectivity = false
  open var isDiscretionary = false
  open var sharedContainerIdentifier: String?
  open var sessionSendsLaunchEvents = false
  open var connectionProxyDictionary: [AnyHashable: Any]?
  open var httpShouldUsePipelining = false
  open var httpShouldSetCookies = true
  open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain
  open var httpAdditionalHeaders: [AnyHashable: Any]?
  open var httpMaximumConnectionsPerHost = 6
  open var httpCookieStorage: HTTPCookieStorage?
  open var urlCredentialStorage: URLCredentialStorage?
  open var urlCache: URLCache?
  open var protocolClasses: [AnyClass]?
}

open class URLSessionTask: NSObject, @unchecked Sendable {
  open var taskIdentifier: Int { 0 }
  open var originalRequest: URLRequest? { nil }
  open var currentRequest: URLRequest? { nil }
  open var response: URLResponse? { nil }
  open var error: (any Error)? { nil }
  open func cancel() {}
  open func suspend() {}
  open func resume() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
  open var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
}
open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
  open var domainLookupStartDate: Date? { nil }
  open var domainLookupEndDate: Date? { nil }
  open var connectStartDate: Date? { nil }
  open var secureConnectionStartDate: Date? { nil }
  open var secureConnectionEndDate: Date? { nil }
  open var connectEndDate: Date? { nil }
  open var networkProtocolName: String? { nil }
  open var isReusedConnection: Bool { false }
}

open class URLSession: NSObject, @unchecked Sendable {
  public enum ResponseDisposition: Int, Sendable { case cancel, allow, becomeDownload, becomeStream }
  public enum AuthChallengeDisposition: Int, Sendable {
    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
  }
  open class var shared: URLSession { fatalError() }
  public init(configuration: URLSessionConfiguration) {}
  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {}
  open var delegate: (any URLSessionDelegate)? { nil }
  open var configuration: URLSessionConfiguration { fatalError() }
  open func finishTasksAndInvalidate() {}
  open func invalidateAndCancel() {}
  open func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
  open func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask { fatalError() }
  open func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
  open func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask { fatalError() }
  public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (
    Data, URLResponse
  ) { fatalError() }
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    fatalError()
  }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64)
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension ProcessInfo {
  public struct ActivityOptions: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static var userInitiated: ActivityOptions { .init(rawValue: 0x00FF_FFFF) }
    public static var userInitiatedAllowingIdleSystemSleep: ActivityOptions { .init(rawValue: 0x00EF_FFFF) }
  }
  public func beginActivity(options: ActivityOptions, reason: String) -> any NSObjectProtocol { fatalError() }
  public func endActivity(_ activity: any NSObjectProtocol) {}
  #if !PLATFORM_macOS
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
  #endif
}
