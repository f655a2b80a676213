import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The content of a file that may be written to while it is sent.
private enum FileToSend: Sendable {
  /// All bytes of a small file.
  case data(Data)
  /// A larger file, with its length and a handle that keeps the original file.
  case file(FileHandle, length: Int64)

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - limit: The most bytes of a small file.
  /// - Throws: ``NetworkError`` of code ``NetworkError/Code-swift.struct/bodyUnreadable``.
  init(_ file: URL, readingUpTo limit: Int) throws {
    // The length is taken once, so that a change of the file from now on can be noticed.
    let length = try RequestBody.length(ofFile: file)
    do {
      let handle = try FileHandle(forReadingFrom: file)
      guard length <= Int64(limit) else {
        self = .file(handle, length: length)
        return
      }
      let data = try length > 0 ? handle.read(upToCount: Int(length)) ?? Data() : Data()
      guard data.count == Int(length) else { throw CocoaError(.fileReadCorruptFile) }
      self = .data(data)
    } catch {
      throw NetworkError(.bodyUnreadable, "the body file \(file.path) could not be read", underlyingError: error)
    }
  }
}

// Files as bodies. These functions run on the queue.
extension TransferRegistry {
  /// Sends a file that may be written to meanwhile.
  ///
  /// URLSession on Linux sends the whole file, even if it has grown beyond the announced length. The server would take
  /// the rest for another request, and a later request would get its response. So a small file is read first. A larger
  /// file gets a connection of its own, on which no request follows.
  ///
  /// The file is opened elsewhere: while its disk does not respond, the queue has other transfers, and the end of this
  /// one.
  func open(_ file: URL, of transfer: Transfer) {
    FileQueue.begin { [limit = spool.memoryLimit] in
      try FileToSend(file, readingUpTo: limit)
    } completion: { [self] result in
      queue.async { self.didOpen(file, result, of: transfer) }
    }
  }

  private func didOpen(_ file: URL, _ result: Result<FileToSend, any Error>, of transfer: Transfer) {
    goOn(transfer, after: result) { session, content in
      guard mayStillBeSent(transfer) else { return }
      switch content {
      case .data(let data):
        transfer.announcedLength = Int64(data.count)
        transfer.urlRequest.httpBody = data
        send(data, of: transfer, in: session)
      case .file(let handle, let length):
        transfer.announcedLength = length
        #if canImport(FoundationNetworking)
          send(file, length, of: transfer, in: session, isAlone: true)
          watch(handle, length, of: transfer)
        #else
          _ = handle
          send(file, length, of: transfer, in: session, isAlone: false)
        #endif
      }
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
