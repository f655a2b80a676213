import RequestBehaviors
import Testing

@Suite(.limited) struct StatusCodesTests {
  private static let every = StatusCodes(Int.min...Int.max)
  private static let none: StatusCodes = []

  @Test(arguments: [
    (StatusCodes(arrayLiteral: 404, 200), StatusCodes(arrayLiteral: 200, 404)),
    (StatusCodes(arrayLiteral: 200, 201, 202), StatusCodes(200...202)),
    (StatusCodes.success.union([204]), StatusCodes.success), (none.union(.success), StatusCodes.success),
    (StatusCodes(200...250).union(StatusCodes(240...299)), StatusCodes.success),
    (StatusCodes(251...299).union(StatusCodes(200...250)), StatusCodes.success),
    (StatusCodes(arrayLiteral: .min, .max), StatusCodes(arrayLiteral: .max, .min)), (every.union([7]), every),
  ])
  func `sets of the same codes are equal`(one: StatusCodes, other: StatusCodes) {
    #expect(one == other)
    #expect(one.hashValue == other.hashValue)
  }

  @Test func `a set of single codes has no others`() {
    let codes: StatusCodes = [404, 200, 202]
    #expect((0...999).filter { codes.contains($0) } == [200, 202, 404])
    #expect(codes != [404, 200])
  }
}
