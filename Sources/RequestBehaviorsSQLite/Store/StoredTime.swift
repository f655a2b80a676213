import Foundation
import RequestBehaviors

extension Date {
  /// The most milliseconds before and after 1970.
  static let storedLimit: Int64 = 10_000_000_000_000_000

  /// The milliseconds since 1970, within 300,000 years; a date that is no number is 1970.
  var storedTime: Int64 {
    let limit = Double(Date.storedLimit)
    let time = (timeIntervalSince1970 * 1_000).rounded()
    return time.isNaN ? 0 : Int64(min(max(time, -limit), limit))
  }

  init(storedTime: Int64) { self.init(timeIntervalSince1970: Double(storedTime) / 1_000) }
}

extension Duration {
  /// The duration in milliseconds, at most about 30,000 years.
  var storedTime: Int64 {
    let (seconds, attoseconds) = boundedComponents
    return min(max(seconds, -1_000_000_000_000), 1_000_000_000_000) * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}
