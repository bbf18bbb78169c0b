import CEvent

/// The version of the library that the process runs with.
package var eventLibraryVersion: String { "libevent " + String(cString: event_get_version()) }
