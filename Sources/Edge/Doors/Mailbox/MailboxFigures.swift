/// The figures of the mailboxes' door that the operator may see.
package struct MailboxFigures: Equatable, Sendable {
    package internal(set) var mailboxes = 0
    /// Topics of UnifiedPush.
    package internal(set) var pushTopics = 0
    /// The messages in all of them; about a minute old at most.
    package internal(set) var messages = 0
    package internal(set) var bytes = 0
    /// Open answers of registered readers, and of those without a token.
    package internal(set) var readers = 0
    package internal(set) var strangers = 0
    /// Requests that got nothing for want of room, of a right, or of somebody who reads the topic.
    package internal(set) var refused = 0
}
