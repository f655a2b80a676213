#if canImport(ObjectiveC)
  import Dispatch
  import Foundation
  import Security

  /// Applies a trust policy, and presents an identity, when URLSession asks for them.
  ///
  /// Both may block: evaluating certificates may fetch others (Apple: "SecTrustEvaluateWithError"). So they run on a
  /// queue of their own.
  final class ServerTrust: Sendable {
    /// The decision for URLSession.
    enum Disposition: Sendable {
      case system
      case credential(URLCredential)
      case failure(NetworkError)
    }

    private let policy: TrustPolicy
    private let identity: ClientIdentity?
    private let queue = DispatchQueue(label: "RequestBehaviors.ServerTrust", attributes: .concurrent)
    /// Kept, because opening the identity takes long.
    private let openedIdentity = Locked<Result<URLCredential, NetworkError>?>(nil)

    init(_ policy: TrustPolicy, _ identity: ClientIdentity?) {
      self.policy = policy
      self.identity = identity
    }

    /// Responds to a challenge: at once if the system decides, or else on the queue.
    func answer(_ challenge: URLAuthenticationChallenge, completion: @escaping @Sendable (Disposition) -> Void) {
      let host = challenge.protectionSpace.host
      switch challenge.protectionSpace.authenticationMethod {
      case NSURLAuthenticationMethodServerTrust where !policy.isSystem:
        queue.async { completion(self.evaluate(challenge, host)) }
      case NSURLAuthenticationMethodClientCertificate where identity?.isFor(host) == true:
        queue.async { completion(self.showIdentity()) }
      default:
        completion(.system)
      }
    }

    private func evaluate(_ challenge: URLAuthenticationChallenge, _ host: String) -> Disposition {
      guard let trust = challenge.protectionSpace.serverTrust else { return refuse(host, "it shows no certificate") }
      if let objection = objection(to: trust, of: host) { return refuse(host, objection) }
      let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
      if let objection = policy.pinObjection(to: chain.map { SecCertificateCopyData($0) as Data }, of: host) {
        return refuse(host, objection)
      }
      return .credential(URLCredential(trust: trust))
    }

    private func refuse(_ host: String, _ reason: String) -> Disposition {
      .failure(NetworkError(.tlsFailed, "the server \(host) is not trusted: \(reason)"))
    }

    /// Returns why the policy's basis does not trust a server; `nil` if it does.
    private func objection(to trust: SecTrust, of host: String) -> String? {
      switch policy.basis {
      case .closure(let isTrusted):
        return isTrusted(trust, host) ? nil : "the policy's closure says so"
      case .anchors(let certificates, let besidesSystem):
        // A certificate that the system does not accept would be missing among the anchors, so it refuses the server.
        let anchors = certificates.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
        let status = SecTrustSetAnchorCertificates(trust, anchors as CFArray)
        let secondStatus = SecTrustSetAnchorCertificatesOnly(trust, !besidesSystem)
        guard anchors.count == certificates.count, status == errSecSuccess, secondStatus == errSecSuccess else {
          return "the system does not take the certificates of the policy"
        }
      case .system:
        break
      }
      var error: CFError?
      if SecTrustEvaluateWithError(trust, &error) { return nil }
      return error.map { CFErrorCopyDescription($0) as String } ?? "its certificates are not valid"
    }

    private func showIdentity() -> Disposition {
      let result = openedIdentity.withLock { openedIdentity in
        let result = openedIdentity ?? openIdentity()
        openedIdentity = result
        return result
      }
      switch result {
      case .success(let credential): return .credential(credential)
      case .failure(let error): return .failure(error)
      }
    }

    private func openIdentity() -> Result<URLCredential, NetworkError> {
      switch identity?.content {
      case .pkcs12(let data, let passphrase): openPKCS12(data, passphrase)
      case .certificates: .failure(.identityNeedsPKCS12())
      case nil: .failure(NetworkError(.invalidTrust, "there is no client identity"))
      }
    }

    private func openPKCS12(_ data: Data, _ passphrase: String) -> Result<URLCredential, NetworkError> {
      let options = NSDictionary(dictionary: [kSecImportExportPassphrase as String: passphrase])
      var items: CFArray?
      let status = SecPKCS12Import(data as CFData, options as CFDictionary, &items)
      let entries = items as? [[String: Any]] ?? []
      let found = entries.first?[kSecImportItemIdentity as String].map { $0 as AnyObject }
      guard status == errSecSuccess, let found, CFGetTypeID(found) == SecIdentityGetTypeID() else {
        let hint = status == errSecAuthFailed ? ", the passphrase does not open it" : ""
        return .failure(cannotOpen(status, hint))
      }
      let chain = entries.first?[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
      // Its type was compared; casts do not check types of Core Foundation.
      let opened = unsafeDowncast(found, to: SecIdentity.self)
      // The first certificate of the chain is the identity's own and goes with it.
      return .success(
        URLCredential(identity: opened, certificates: Array(chain.dropFirst()), persistence: .forSession))
    }

    private func cannotOpen(_ status: OSStatus, _ hint: String = "") -> NetworkError {
      NetworkError(.invalidTrust, "the client identity could not be opened: OSStatus \(status)\(hint)")
    }
  }
#endif
