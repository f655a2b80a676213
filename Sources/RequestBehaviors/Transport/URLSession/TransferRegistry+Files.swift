import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// Files as bodies. These functions run on the queue.
extension TransferRegistry {
  /// Sends a file that may be written to meanwhile.
  ///
  /// URLSession on Linux sends the whole file, even if it has grown beyond the announced length. The server would take
  /// the rest for another request, and a later request would get its response. So a small file is read first. A larger
  /// file gets a connection of its own, on which no request follows.
  func sendFile(_ file: URL, of transfer: Transfer, in session: URLSession) {
    do {
      let length = try RequestBody.length(ofFile: file)
      transfer.announcedLength = length
      // The length is taken once, so that a change of the file from now on can be noticed.
      guard length > Int64(spool.memoryLimit) else {
        let data = try TransferRegistry.read(length, of: file)
        transfer.urlRequest.httpBody = data
        return send(data, of: transfer, in: session)
      }
      #if canImport(FoundationNetworking)
        let handle = try TransferRegistry.opened(file)
        send(file, length, of: transfer, in: session, isAlone: true)
        watch(handle, length, of: transfer)
      #else
        send(file, length, of: transfer, in: session, isAlone: false)
      #endif
    } catch {
      abort(transfer, with: error)
    }
  }

  /// Sends a file, over a connection of its own if `isAlone` is true.
  func send(_ file: URL, _ length: Int64, of transfer: Transfer, in session: URLSession, isAlone: Bool) {
    #if canImport(FoundationNetworking)
      // URLSession on Linux reads a file in the background. A connection that is lost meanwhile ends the process.
      // URLSession reads a stream when libcurl asks for the bytes.
      transfer.urlRequest.httpBodyStream = InputStream(url: file)
      transfer.urlRequest.announceStream(of: length)
      launch(of: transfer, in: session, isAlone: isAlone) { $0.dataTask(with: transfer.urlRequest) }
    #else
      launch(of: transfer, in: session, isAlone: isAlone) { $0.uploadTask(with: transfer.urlRequest, fromFile: file) }
    #endif
  }

  /// Reads the beginning of a small file.
  private static func read(_ length: Int64, of file: URL) throws -> Data {
    guard length > 0 else { return Data() }
    let handle = try opened(file)
    defer { try? handle.close() }
    do {
      let data = try handle.read(upToCount: Int(length)) ?? Data()
      guard data.count == Int(length) else { throw CocoaError(.fileReadCorruptFile) }
      return data
    } catch {
      throw unreadable(file, error)
    }
  }

  private static func opened(_ file: URL) throws -> FileHandle {
    do { return try FileHandle(forReadingFrom: file) } catch { throw unreadable(file, error) }
  }

  private static func unreadable(_ file: URL, _ error: any Error) -> NetworkError {
    NetworkError(.bodyUnreadable, "the body file \(file.path) could not be read", underlyingError: error)
  }

  #if canImport(FoundationNetworking)
    /// The interval between checks of a file that is being sent.
    private static let watchInterval: Duration = .seconds(1)

    /// Ends the send of a file that becomes shorter.
    ///
    /// libcurl would take the upload for complete, and the server would wait for the rest.
    ///
    /// - Parameters:
    ///   - handle: Keeps the original file, even if another one gets its name later.
    ///   - length: The length of the file when it was opened.
    ///   - transfer: The transfer.
    private func watch(_ handle: FileHandle, _ length: Int64, of transfer: Transfer) {
      transfer.keep(
        Task.detached { [clock, weak self, weak transfer] in
          while (try? await clock.sleep(for: TransferRegistry.watchInterval)) != nil {
            let count = try? await FileQueue.run { try handle.seekToEnd() }
            guard let self, let transfer, !transfer.isSettled else { return }
            guard let count, count < UInt64(length) else { continue }
            transfer.fail(
              .bodyUnreadable,
              "the body file has become shorter than its \(length) bytes while it was sent; send a copy that stays as it is"
            )
            return self.abandon(transfer)
          }
        })
    }
  #endif
}

#if canImport(FoundationNetworking)
  extension URLRequest {
    /// Announces the length of a body stream, which libcurl would send in chunks, after a wait for `100 Continue`.
    ///
    /// libcurl leaves both to a request that has the fields itself, and sends no field whose value is blank.
    fileprivate mutating func announceStream(of length: Int64) {
      if value(forHTTPHeaderField: "Expect") == nil { setValue(" ", forHTTPHeaderField: "Expect") }
      guard value(forHTTPHeaderField: "Transfer-Encoding") == nil else { return }
      setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
      if value(forHTTPHeaderField: "Content-Length") == nil {
        setValue(String(length), forHTTPHeaderField: "Content-Length")
      }
    }
  }
#endif
