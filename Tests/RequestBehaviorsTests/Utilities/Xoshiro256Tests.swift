import RequestBehaviors
import Testing

@Suite(.limited) struct Xoshiro256Tests {
  // The numbers of the authors' xoshiro256plusplus.c, as the crate rand_xoshiro has them.
  @Test func `the numbers are those of the authors' program`() {
    var generator = Xoshiro256(state: (1, 2, 3, 4))
    let numbers = (0..<10).map { _ in generator.next() }
    #expect(
      numbers == [
        41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205,
        9_973_669_472_204_895_162, 14_011_001_112_246_962_877, 12_406_186_145_184_390_807, 15_849_039_046_786_891_736,
        10_450_023_813_501_588_000,
      ])
  }

  @Test func `the state comes from the other generator in its order`() {
    var other = Xoshiro256(state: (1, 2, 3, 4))
    var seeded = Xoshiro256(seededBy: &other)
    var same = Xoshiro256(state: (41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386))
    #expect((0..<4).map { _ in seeded.next() } == (0..<4).map { _ in same.next() })
  }
}
