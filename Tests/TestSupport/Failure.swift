/// An error that a test throws and recognizes by its name.
package struct Failure: Error, Equatable {
  package let name: String
  package init(_ name: String) { self.name = name }
}
