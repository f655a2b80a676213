// What a sample of the documentation uses of Core Data. From memory of Apple's documentation.
public import Foundation

open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  public enum ScheduledTaskType: Sendable { case immediate, enqueued }
  public func perform<T>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
  ) async rethrows -> T { fatalError() }
  open var hasChanges: Bool { fatalError() }
  open func save() throws {}
  open func rollback() {}
  public func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int { fatalError() }
}

public protocol NSFetchRequestResult: NSObjectProtocol {}
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSObject {
  public convenience init(entityName: String) { fatalError() }
}
open class NSManagedObject: NSObject, NSFetchRequestResult {
  open func setValue(_ value: Any?, forKey key: String) {}
}
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  public init(name: String, managedObjectModel: NSManagedObjectModel) {}
  open func newBackgroundContext() -> NSManagedObjectContext { fatalError() }
  open var persistentStoreDescriptions: [NSPersistentStoreDescription] { get { fatalError() } set {} }
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {}
}
open class NSPersistentStoreDescription: NSObject { open var type: String { get { fatalError() } set {} } }
public let NSInMemoryStoreType = "InMemory"
open class NSManagedObjectModel: NSObject { open var entities: [NSEntityDescription] { get { fatalError() } set {} } }
open class NSPropertyDescription: NSObject { open var name: String { get { fatalError() } set {} } }
open class NSAttributeDescription: NSPropertyDescription {
  open var attributeType: NSAttributeType { get { fatalError() } set {} }
}
public enum NSAttributeType: UInt, Sendable { case integer64AttributeType = 300, stringAttributeType = 700 }
open class NSEntityDescription: NSObject {
  open var name: String? { get { fatalError() } set {} }
  open var properties: [NSPropertyDescription] { get { fatalError() } set {} }
  open class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject { fatalError() }
}
