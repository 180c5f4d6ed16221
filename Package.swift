// swift-tools-version: 6.2
// The targets of stallwatch and the only arrows allowed between them; Docs/Architecture.md says what each is for.

import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
]

let cSettings: [CSetting] = [.treatAllWarnings(as: .error)]

func swiftTarget(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target
{
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(of name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, exclude: exclude,
    swiftSettings: settings)
}

let package = Package(
  name: "stallwatch",
  products: [.executable(name: "stallwatch", targets: ["stallwatch"])],
  targets: [
    .target(name: "CLinux", cSettings: cSettings),
    .systemLibrary(name: "CLibunwind"),
    .systemLibrary(name: "CElfutils"),
    .systemLibrary(name: "CDemangle"),
    .systemLibrary(name: "CCompression"),
    .systemLibrary(name: "CLibbpf"),

    swiftTarget("Linux", ["CLinux", "CCompression"]),
    swiftTarget("StallCore", [], resources: [.embedInCode("LoopRules.txt")]),
    swiftTarget(
      "Observation", ["StallCore", "Linux", "CLibbpf"], resources: [.embedInCode("task_iterator.bpf.o")]),
    swiftTarget("Stacks", ["StallCore", "Linux", "CLibunwind"]),
    swiftTarget("Symbols", ["StallCore", "Linux", "CElfutils", "CDemangle", "CCompression"]),
    swiftTarget("Analysis", ["StallCore", "Linux", "Stacks", "Symbols"]),
    swiftTarget("Diagnosis", ["StallCore", "Linux"]),
    swiftTarget("Reports", ["StallCore"]),
    swiftTarget("CommandLineOptions", ["StallCore"]),
    swiftTarget("Recordings", ["StallCore"]),
    .executableTarget(
      name: "stallwatch",
      dependencies: [
        "StallCore", "Linux", "Observation", "Stacks", "Analysis", "Diagnosis", "Reports",
        "CommandLineOptions", "Recordings",
      ],
      swiftSettings: settings),
    .executableTarget(name: "demo", cSettings: cSettings),

    .target(
      name: "TestSupport", dependencies: ["Linux", "CLinux"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .executableTarget(name: "TestTailCall", path: "Tests/TestTailCall", cSettings: cSettings),
    .executableTarget(name: "TestTarget", path: "Tests/TestTarget", cSettings: cSettings),
    .executableTarget(
      name: "TestSandbox", dependencies: ["Linux", "CLinux", "Observation"], path: "Tests/TestSandbox",
      swiftSettings: settings),
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "StallCore", "Linux", "Observation", "Stacks", "Symbols", "Analysis", "Diagnosis", "Reports",
        "CommandLineOptions", "Recordings", "CCompression", "TestSupport",
      ],
      path: "Tests/Fuzz", swiftSettings: settings),
    .executableTarget(
      name: "TestCaptureHelper", dependencies: ["Stacks"], path: "Tests/TestCaptureHelper",
      swiftSettings: settings),

    tests(of: "Linux", ["CLinux", "TestSupport"]),
    tests(of: "StallCore", ["Recordings", "Linux"], exclude: ["Stacks", "Recordings"]),
    tests(of: "Recordings", ["StallCore"]),
    tests(of: "Observation", ["StallCore", "Linux", "TestSupport", "TestTarget", "TestSandbox"]),
    .testTarget(
      name: "ProgramTests",
      dependencies: [
        "stallwatch", "TestTarget", "TestTailCall", "TestSandbox", "Fuzz", "StallCore", "CommandLineOptions",
        "Linux",
        "TestSupport",
      ],
      swiftSettings: settings),
    tests(of: "Reports", ["StallCore", "TestSupport"], exclude: ["Expected"]),
    tests(of: "CommandLineOptions", ["StallCore", "Linux", "TestSupport"], exclude: ["Refusals.txt"]),
    tests(of: "Stacks", ["StallCore", "Linux", "CLinux", "Observation", "TestSupport"]),
    tests(
      of: "Analysis",
      [
        "StallCore", "Linux", "Stacks", "Symbols", "TestSupport", "TestTarget", "TestSandbox",
        "TestCaptureHelper",
        "stallwatch",
      ]),
    tests(of: "Symbols", ["StallCore", "Linux", "CLinux", "CCompression", "TestSupport"]),
    tests(of: "Diagnosis", ["StallCore", "Linux", "CLinux", "TestSupport"]),
  ],
  swiftLanguageModes: [.v6]
)
