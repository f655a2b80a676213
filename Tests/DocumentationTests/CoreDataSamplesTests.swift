#if canImport(CoreData)
  import CoreData
  import RequestBehaviors
  import RequestBehaviorsTesting
  import Testing

  /// Saves responses in Core Data before their callers get them.
  struct CoreDataBehavior: RequestBehavior, @unchecked Sendable {
    typealias Save =
      @Sendable (NetworkResponse, NSManagedObjectContext) throws -> Void

    // Unchecked because the context is used in `perform` only.
    let context: NSManagedObjectContext
    let save: Save

    var order: BehaviorOrder { .persistence }

    func afterSuccess(
      _ response: NetworkResponse, for request: NetworkRequest
    ) async throws {
      guard request.options.delivery == .buffered else { return }
      try await context.perform { [context, save] in
        do {
          try request.call.owner.verify()
          try save(response, context)
          try request.call.owner.verify()
          if context.hasChanges { try context.save() }
        } catch {
          context.rollback()
          throw error
        }
      }
    }
  }

  extension RequestBehavior where Self == CoreDataBehavior {
    /// Saves responses in Core Data before their callers get them.
    static func save(
      in container: NSPersistentContainer,
      _ save: @escaping CoreDataBehavior.Save
    ) -> CoreDataBehavior {
      CoreDataBehavior(
        context: container.newBackgroundContext(), save: save)
    }
  }

  /// The samples of "Saving to Core Data", over a store in memory.
  @Suite(.limited) struct CoreDataSamplesTests {
    private let mock = MockTransport(baseURL: baseURL)

    /// A container with the entity `Tag`.
    private func makeContainer() throws -> NSPersistentContainer {
      func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
      }
      let entity = NSEntityDescription()
      entity.name = "Tag"
      entity.properties = [attribute("id", .integer64AttributeType), attribute("name", .stringAttributeType)]
      let model = NSManagedObjectModel()
      model.entities = [entity]
      let container = NSPersistentContainer(name: "Tags", managedObjectModel: model)
      let description = NSPersistentStoreDescription()
      description.type = NSInMemoryStoreType
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { failure = $1 }
      if let failure { throw failure }
      return container
    }

    private func count(in container: NSPersistentContainer) async throws -> Int {
      let context = container.newBackgroundContext()
      return try await context.perform { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) }
    }

    private func client(_ container: NSPersistentContainer) -> NetworkClient {
      let client = NetworkClient(
        baseURL: baseURL,
        behaviors: [
          .logging(),
          .save(in: container) { response, context in
            guard response.request.endpoint == "tags" else { return }
            for tag in try response.decode([Tag].self) {
              let row = NSEntityDescription.insertNewObject(
                forEntityName: "Tag", into: context)
              row.setValue(tag.id, forKey: "id")
              row.setValue(tag.name, forKey: "name")
            }
          },
        ])
      return NetworkClient(configuration: client.configuration, transport: mock)
    }

    @Test func `a response is saved before the caller gets it`() async throws {
      let container = try makeContainer()
      mock.on(.get, "tags").respond(jsonText: #"[{"id":1,"name":"oil"},{"id":2,"name":"ink"}]"#)
      try await client(container).send(.get("tags"))
      #expect(try await count(in: container) == 2)
    }

    @Test func `a failed save fails the request, and nothing is kept`() async throws {
      let container = try makeContainer()
      mock.on(.get, "tags").respond(jsonText: #"[{"id":1,"name":"oil"},{"id":2}]"#)
      await #expect(throws: NetworkError.self) { try await client(container).send(.get("tags")) }
      #expect(try await count(in: container) == 0)
    }
  }
#endif
