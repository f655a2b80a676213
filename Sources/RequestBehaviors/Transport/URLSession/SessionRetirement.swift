#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import FoundationNetworking

  /// The end of a session that may have idle connections over TLS.
  ///
  /// With some versions of libcurl the release of such a session ends the process; see
  /// ``PlatformCurl/failsAtTheEndOfSessions``. So the session stays until its connections are older than libcurl lets
  /// idle ones become. One more request makes libcurl close them, and the session can end.
  struct SessionRetirement: Sendable {
    /// The time between two looks at whether tasks are left.
    var interval = Duration.seconds(10)
    /// Longer than the age up to which libcurl uses an idle connection: 118 s (`CURLOPT_MAXAGE_CONN`).
    var idleTime = Duration.seconds(125)
    /// Longer than libcurl waits for a server that does not close its side: 2 s.
    var closingTime = Duration.seconds(5)

    /// Ends a session some time after its last task.
    ///
    /// - Parameter session: The session, in which no task is started any more.
    func begin(_ session: URLSession) {
      session.getAllTasks { tasks in
        if tasks.isEmpty {
          after(idleTime) { closeConnections(of: session) }
        } else {
          after(interval) { begin(session) }
        }
      }
    }

    private func closeConnections(of session: URLSession) {
      // Nothing listens there. Libcurl looks for connections that are too old before it connects.
      guard let nowhere = URL(string: "http://127.0.0.1:1/") else { return }
      let task = session.dataTask(with: nowhere) { _, _, _ in
        after(closingTime) { session.finishTasksAndInvalidate() }
      }
      task.resume()
    }

    /// Runs a function later, in the time of the machine, because libcurl knows no other.
    private func after(_ time: Duration, _ run: @escaping @Sendable () -> Void) {
      DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + time.inSeconds, execute: run)
    }
  }
#endif
