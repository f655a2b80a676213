// swift-tools-version: 6.2
import PackageDescription

// Users of the library, as they set their own packages up: none of its upcoming features, main-actor default isolation,
// Swift 5 mode, the core alone.
let package = Package(
  name: "Consumers",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "RequestBehaviors", path: "../../..")],
  targets: [
    .executableTarget(
      name: "CoreOnly", dependencies: [.product(name: "RequestBehaviors", package: "RequestBehaviors")],
      path: "CoreOnly"),
    .executableTarget(
      name: "Plain",
      dependencies: [
        .product(name: "RequestBehaviors", package: "RequestBehaviors"),
        .product(name: "RequestBehaviorsSQLite", package: "RequestBehaviors"),
        .product(name: "RequestBehaviorsTesting", package: "RequestBehaviors"),
      ], path: "Plain"),
    .executableTarget(
      name: "Idioms",
      dependencies: [
        .product(name: "RequestBehaviors", package: "RequestBehaviors"),
        .product(name: "RequestBehaviorsSQLite", package: "RequestBehaviors"),
        .product(name: "RequestBehaviorsTesting", package: "RequestBehaviors"),
      ], path: "Idioms"),
    .executableTarget(
      name: "MainActorApp",
      dependencies: [
        .product(name: "RequestBehaviors", package: "RequestBehaviors"),
        .product(name: "RequestBehaviorsTesting", package: "RequestBehaviors"),
      ], path: "MainActorApp", swiftSettings: [.defaultIsolation(MainActor.self)]),
    .executableTarget(
      name: "SwiftFive", dependencies: [.product(name: "RequestBehaviorsSQLite", package: "RequestBehaviors")],
      path: "SwiftFive", swiftSettings: [.swiftLanguageMode(.v5)]),
  ]
)
