#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  package import FoundationNetworking

  /// The end of a session that may have idle connections over TLS.
  ///
  /// With some versions of libcurl the release of such a session ends the process; see
  /// ``PlatformCurl/failsAtTheEndOfSessions``. So the session stays until its connections are older than libcurl lets
  /// idle ones become. One more request makes libcurl close them, and the session can end. If the server says that it
  /// closes the only connection (RFC 9112 §9.6), the session ends as soon as that has happened.
  package struct SessionRetirement: Sendable {
    /// The time between two looks at whether tasks are left.
    private let interval: Duration
    /// The time that connections are idle before the last request.
    private let idleTime: Duration
    /// The time between the last request and the end of the session.
    private let closingTime: Duration
    private let count: SessionCount

    /// Creates a retirement of sessions.
    ///
    /// - Parameters:
    ///   - interval: The time between two looks at whether tasks are left; one second by default.
    ///   - idleTime: The time that connections are idle before the last request. By default 125 s, which is longer than
    ///     the age up to which libcurl uses an idle connection: 118 s (`CURLOPT_MAXAGE_CONN`).
    ///   - closingTime: The time that libcurl has for closing connections. By default five seconds, which is longer
    ///     than it waits for a server that does not close its side: two.
    ///   - count: The number of sessions that stay; by default of all in the process.
    package init(
      interval: Duration = .seconds(1), idleTime: Duration = .seconds(125), closingTime: Duration = .seconds(5),
      count: SessionCount = .ofProcess
    ) {
      (self.interval, self.idleTime, self.closingTime, self.count) = (interval, idleTime, closingTime, count)
    }

    /// Ends a session some time after its last task.
    ///
    /// - Parameters:
    ///   - session: The session, in which no task is started any more.
    ///   - task: The only task that it has had; `nil` if it may have had several.
    package func begin(_ session: URLSession, only task: URLSessionTask? = nil) {
      count.add(1)
      waitForTasks(of: session, only: task)
    }

    private func waitForTasks(of session: URLSession, only task: URLSessionTask?) {
      session.getAllTasks { tasks in
        if !tasks.isEmpty {
          after(interval) { waitForTasks(of: session, only: task) }
        } else if task?.saysThatConnectionIsClosed == true {
          after(closingTime) { end(session) }
        } else {
          after(idleTime) { closeConnections(of: session) }
        }
      }
    }

    private func closeConnections(of session: URLSession) {
      // Nothing listens there. Libcurl looks for connections that are too old before it connects.
      guard let nowhere = URL(string: "http://127.0.0.1:1/") else { return }
      var request = URLRequest(url: nowhere)
      request.httpShouldHandleCookies = false
      let task = session.dataTask(with: request) { _, _, _ in
        after(closingTime) { end(session) }
      }
      task.resume()
    }

    private func end(_ session: URLSession) {
      count.add(-1)
      session.finishTasksAndInvalidate()
    }

    /// Runs a function later, by the machine's time: the clock of a test does not change the age of connections.
    private func after(_ time: Duration, _ run: @escaping @Sendable () -> Void) {
      DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + time.inSeconds, execute: run)
    }
  }

  extension URLSessionTask {
    /// Whether the response says that its connection is closed after it.
    fileprivate var saysThatConnectionIsClosed: Bool {
      (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Connection")?.lowercased() == "close"
    }
  }
#endif
