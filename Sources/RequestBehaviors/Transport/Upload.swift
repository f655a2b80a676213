import Foundation

/// placeholder
final class Upload: Sendable {}
