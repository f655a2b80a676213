import Foundation

/// Prints figures of the library beside those of the layers below it, measured in one run.
@main
struct Benchmarks {
  /// Waits for the work on the first thread, because valgrind ends programs whose first thread has ended.
  static func main() {
    let end = DispatchSemaphore(value: 0)
    Task.detached {
      await run(Array(CommandLine.arguments.dropFirst()))
      end.signal()
    }
    end.wait()
  }

  private static func run(_ arguments: [String]) async {
    do {
      if arguments == ["--serve"] { return try Server.serve() }
      if arguments.first == "--repeat" { return try await CountedWork.run(arguments.dropFirst()) }
      let (chosen, effort) = try choose(arguments)
      guard let benchmark = chosen.first else { return }
      print("\n\(benchmark.name): \(benchmark.summary)")
      print(table(try await benchmark.run(effort)))
      try runAnew(chosen.dropFirst(), effort)
    } catch {
      print("Benchmarks: \(error)")
      exit(1)
    }
  }

  /// Runs the other benchmarks in this process as if it had just begun.
  ///
  /// Otherwise each would be measured with the heap and the threads that those before it have left: a query took half
  /// as long again after five others as it takes alone.
  private static func runAnew(_ others: ArraySlice<Benchmark>, _ effort: Effort) throws {
    guard !others.isEmpty, let path = Bundle.main.executablePath else { return }
    let options = (effort.isQuick ? ["--quick"] : []) + others.flatMap { ["--only", $0.name] }
    let arguments = ([path] + options).map { strdup($0) } + [nil]
    fflush(nil)
    // Connections that a pool still holds would stay open.
    for descriptor in 3..<1_024 as Range<Int32> { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    execv(path, arguments)
    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOEXEC)
  }

  struct Usage: Error, CustomStringConvertible {
    let problem: String
    var description: String {
      "\(problem)\nusage: Benchmarks [--quick] [--only NAME]…\n       Benchmarks --repeat WORK COUNT\nnames: "
        + Benchmark.all.map(\.name).joined(separator: ", ") + "\nworks: "
        + CountedWork.all.map(\.name).joined(separator: ", ")
    }
  }

  private static func choose(_ arguments: [String]) throws -> ([Benchmark], Effort) {
    var isQuick = false
    var names: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": isQuick = true
      case "--only":
        guard let name = rest.popFirst() else { throw Usage(problem: "--only needs a name") }
        guard Benchmark.all.contains(where: { $0.name == name }) else { throw Usage(problem: "no benchmark \(name)") }
        names.append(name)
      default: throw Usage(problem: "no option \(argument)")
      }
    }
    let chosen = names.isEmpty ? Benchmark.all : Benchmark.all.filter { names.contains($0.name) }
    return (chosen, Effort(isQuick: isQuick))
  }

  private static func table(_ rows: [Row]) -> String {
    let cells = rows.map { row in
      let verdict = [row.target.map(\.verdict), row.former.map { "(before: \($0.verdict))" }]
        .compactMap(\.self).joined(separator: " ")
      return [row.label, row.figure, row.ratio.map { "\($0.formatted(2)) ×" } ?? "", verdict]
    }
    let widths = (0..<4).map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { line in
      "  "
        + zip(line, widths).map { text, width in text + String(repeating: " ", count: width - text.count) }
        .joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
