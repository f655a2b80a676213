// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// The programs of the article "Recipes", as a user of the package would write them.
let recipes = [
  "FirstRequest", "FixedBearer", "FromURLSession", "OfflineFirst", "PollUntilDone", "UploadWithProgress",
].map { name in
  Target.executableTarget(
    name: name,
    dependencies: ["RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsSQLite", "RequestBehaviorsTesting"],
    path: "Tests/Fixtures/Recipes/\(name)")
}

let package = Package(
  name: "RequestBehaviors",
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "RequestBehaviors", targets: ["RequestBehaviors"]),
    .library(name: "RequestBehaviorsCaching", targets: ["RequestBehaviorsCaching"]),
    .library(name: "RequestBehaviorsOAuth1", targets: ["RequestBehaviorsOAuth1"]),
    .library(name: "RequestBehaviorsOAuth2", targets: ["RequestBehaviorsOAuth2"]),
    .library(name: "RequestBehaviorsSQLite", targets: ["RequestBehaviorsSQLite"]),
    .library(name: "RequestBehaviorsCurl", targets: ["RequestBehaviorsCurl"]),
    .library(name: "RequestBehaviorsTesting", targets: ["RequestBehaviorsTesting"]),
  ],
  targets: [
    .target(name: "RequestBehaviors", swiftSettings: strict),
    .target(name: "RequestBehaviorsCaching", dependencies: ["RequestBehaviors"], swiftSettings: strict),
    .target(name: "RequestBehaviorsOAuth1", dependencies: ["RequestBehaviors"], swiftSettings: strict),
    .target(name: "RequestBehaviorsOAuth2", dependencies: ["RequestBehaviors"], swiftSettings: strict),
    .systemLibrary(name: "CRequestBehaviorsSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .target(
      name: "RequestBehaviorsSQLite",
      dependencies: ["CRequestBehaviorsSQLite", "RequestBehaviors", "RequestBehaviorsCaching"],
      swiftSettings: strict),
    // Elsewhere the system has no libcurl, and the sources are empty. (`#if os` here would mean the host's.)
    .systemLibrary(name: "CRequestBehaviorsCurl", providers: [.apt(["libcurl4-openssl-dev", "zlib1g-dev"])]),
    .target(
      name: "RequestBehaviorsCurl",
      dependencies: [
        .target(name: "CRequestBehaviorsCurl", condition: .when(platforms: [.linux, .macOS])), "RequestBehaviors",
      ],
      swiftSettings: strict),
    .target(
      name: "RequestBehaviorsTesting", dependencies: ["RequestBehaviors", "RequestBehaviorsCaching"],
      swiftSettings: strict),

    .executableTarget(
      name: "QuickStart",
      dependencies: [
        "RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsOAuth2", "RequestBehaviorsSQLite",
        "RequestBehaviorsTesting",
        .target(name: "RequestBehaviorsCurl", condition: .when(platforms: [.linux, .macOS])),
      ],
      swiftSettings: strict),
    .target(name: "CAllocationCounter"),
    .target(
      name: "CCurlBaseline",
      dependencies: [.target(name: "CRequestBehaviorsCurl", condition: .when(platforms: [.linux, .macOS]))]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "CAllocationCounter", "CCurlBaseline", "CRequestBehaviorsSQLite", "RequestBehaviors", "RequestBehaviorsCaching",
        "RequestBehaviorsCurl", "RequestBehaviorsOAuth1", "RequestBehaviorsSQLite", "RequestBehaviorsTesting",
      ],
      swiftSettings: strict),

    .target(
      name: "TestSupport", dependencies: ["RequestBehaviors", "RequestBehaviorsTesting"], path: "Tests/TestSupport",
      swiftSettings: strict),
    // Apart from TestSupport, because programs that have no testing library use that.
    .target(name: "TestLimits", dependencies: ["RequestBehaviors"], path: "Tests/TestLimits", swiftSettings: strict),
    .target(name: "CSlowDisk", path: "Tests/Fixtures/CSlowDisk"),
    .executableTarget(
      name: "TokenFileWriter", dependencies: ["CSlowDisk", "RequestBehaviors", "RequestBehaviorsSQLite"],
      path: "Tests/Fixtures/TokenFileWriter", swiftSettings: strict),
    .executableTarget(
      name: "TransportProbe", dependencies: ["RequestBehaviors", "RequestBehaviorsTesting", "TestSupport"],
      path: "Tests/Fixtures/TransportProbe", swiftSettings: strict),
    .executableTarget(
      name: "RetryStorm", dependencies: ["RequestBehaviors", "TestSupport"], path: "Tests/Fixtures/RetryStorm",
      swiftSettings: strict),
    .executableTarget(
      name: "ResilienceSoak", dependencies: ["RequestBehaviors", "RequestBehaviorsTesting", "TestSupport"],
      path: "Tests/Fixtures/ResilienceSoak", swiftSettings: strict),
    .executableTarget(
      name: "SimulatedWorlds",
      dependencies: [
        "RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsSQLite",
        "RequestBehaviorsTesting",
      ],
      path: "Tests/Fixtures/SimulatedWorlds", swiftSettings: strict),
    .executableTarget(
      name: "CrashingWriter", dependencies: ["RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsSQLite"],
      path: "Tests/Fixtures/CrashingWriter",
      swiftSettings: strict),
    .executableTarget(
      name: "OutboxSender", dependencies: ["RequestBehaviors", "RequestBehaviorsSQLite"],
      path: "Tests/Fixtures/OutboxSender", swiftSettings: strict),
    .executableTarget(
      name: "OutboxSoak",
      dependencies: ["RequestBehaviors", "RequestBehaviorsSQLite", "RequestBehaviorsTesting", "TestSupport"],
      path: "Tests/Fixtures/OutboxSoak", swiftSettings: strict),
    .target(name: "CFaultVFS", dependencies: ["CRequestBehaviorsSQLite"], path: "Tests/Fixtures/CFaultVFS"),
    .testTarget(
      name: "RequestBehaviorsTests",
      dependencies: [
        "RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsTesting",
        "ResilienceSoak", "RetryStorm", "TestLimits", "TestSupport", "TokenFileWriter", "TransportProbe",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsCachingTests",
      dependencies: [
        "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsTesting", "TestLimits", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsOAuth1Tests",
      dependencies: [
        "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsTesting", "TestLimits", "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsOAuth2Tests",
      dependencies: [
        "QuickStart", "RequestBehaviorsOAuth2", "RequestBehaviorsSQLite", "RequestBehaviorsTesting", "TestLimits",
        "TestSupport", "TokenFileWriter",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsSQLiteTests",
      dependencies: [
        "CFaultVFS", "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsSQLite",
        "RequestBehaviorsTesting", "TestLimits", "TestSupport", "CrashingWriter", "OutboxSender", "OutboxSoak",
        "TokenFileWriter",
      ],
      swiftSettings: strict),
    .target(name: "CSlowResolver", path: "Tests/Fixtures/CSlowResolver"),
    .executableTarget(
      name: "CurlProbe",
      dependencies: [
        "CSlowResolver", "RequestBehaviors", "RequestBehaviorsCurl", "RequestBehaviorsTesting", "TestSupport",
      ],
      path: "Tests/Fixtures/CurlProbe", swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsCurlTests",
      dependencies: [
        "CurlProbe", "RequestBehaviorsCurl", "RequestBehaviorsTesting", "TestLimits", "TestSupport", "TransportProbe",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "RequestBehaviorsTestingTests",
      dependencies: [
        "RequestBehaviorsCaching", "RequestBehaviorsOAuth1", "RequestBehaviorsTesting", "TestLimits", "TestSupport",
        "TransportProbe",
      ],
      exclude: ["Cassette/Browsers", "Reproduction/LargeBodyTests.har", "Reproduction/ManyRedirectsTests.har"],
      swiftSettings: strict),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "QuickStart", "RequestBehaviors", "RequestBehaviorsCaching", "RequestBehaviorsCurl", "RequestBehaviorsOAuth1",
        "RequestBehaviorsOAuth2", "RequestBehaviorsSQLite", "RequestBehaviorsTesting", "TestLimits", "TestSupport",
      ] + recipes.map { .target(name: $0.name) },
      exclude: ["Cassettes"], swiftSettings: strict),
  ] + recipes
)
