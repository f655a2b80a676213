#if canImport(CRequestBehaviorsCurl)
  import CRequestBehaviorsCurl
  import Foundation
  import RequestBehaviors

  /// The body of the response: decoded, limited, and handed on.
  extension CurlTransfer {
    /// The result of taking a part of the body.
    enum Taking { case taken, refused, later }

    func didReceiveBody(_ bytes: UnsafeRawBufferPointer) -> Taking {
      touch()
      guard !bytes.isEmpty else { return .taken }
      guard let decoder else { return take(bytes) }
      // After a pause libcurl passes the whole part again, so the bytes that were decoded before are skipped.
      var rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(decodedCount))
      decodedCount = max(decodedCount - bytes.count, 0)
      return withUnsafeTemporaryAllocation(byteCount: 32 * 1_024, alignment: 16) { buffer in
        while true {
          if let stream, !stream.hasRoom(orPauses: true) {
            decodedCount += bytes.count - rest.count
            isReceivingPaused = true
            return .later
          }
          var count = 0
          let step = decoder.decode(&rest, into: buffer, count: &count)
          if count > 0, take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) == .refused { return .refused }
          switch step {
          case .broken:
            objection = NetworkError(.badResponse, "the response's body is not what its Content-Encoding says")
            return .refused
          case .needsMore where rest.isEmpty: return .taken
          case .needsMore, .produced: continue
          }
        }
      }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
      if let stream {
        isReceivingPaused = !stream.hasRoom(orPauses: true)
        guard !isReceivingPaused else { return .later }
        // Before the reader has the bytes, because it may look at the progress at once.
        noteReceived(bytes.count)
        stream.push(bytes)
        return .taken
      }
      guard bytes.count <= bodyLimit - handle.body.count else {
        objection = NetworkError.bodyTooLarge(limit: bodyLimit)
        return .refused
      }
      handle.body.add(bytes, of: handle.size(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T).map { min($0, bodyLimit) })
      noteReceived(bytes.count)
      return .taken
    }

    /// The reason why a body that libcurl takes for whole is incomplete; `nil` if it is complete.
    var missing: NetworkError? {
      let (head, isHead) = (handle.head, request.method == .head)
      let hasOtherEnd = !head.endsWithConnection(isHead: isHead)
      if tlsEnd?.isProper == false {
        return NetworkError(
          .truncatedBody,
          "the body ends with its connection, which ended without a closure alert (RFC 9112 §9.8); set the transport's "
            + "requiresTLSClosure to false if the server never sends one")
      }
      if decoder?.isWhole(mayBeNone: hasOtherEnd) == false {
        return NetworkError(.truncatedBody, "the compressed data of the response's body ended before its end")
      }
      guard case .length(let length)? = head.expectedEnd(isHead: isHead),
        let count = handle.size(CURLINFO_SIZE_DOWNLOAD_T), count != length
      else { return nil }
      return NetworkError(.truncatedBody, "the body ended after \(count) of \(length) bytes")
    }

    /// Reports the progress of the body, in bytes as the caller gets them.
    private func noteReceived(_ count: Int) {
      guard let progress else { return }
      receivedCount += Int64(count)
      // The length that the server announces is that of the compressed body.
      let length = decoder == nil ? handle.size(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) : nil
      progress.received(receivedCount, of: length.flatMap { $0 >= 0 ? Int64($0) : nil })
    }
  }
#endif
