import RequestBehaviors

/// Whether two texts are equal; the time does not depend on where they differ.
func areEqualInConstantTime(_ one: String, _ other: String) -> Bool {
  Digest.sha256(of: one) == Digest.sha256(of: other)
}
