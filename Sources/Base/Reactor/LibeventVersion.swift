import CEvent

/// The name and version of libevent, as loaded at run time.
package var eventLibraryVersion: String { "libevent " + String(cString: event_get_version()) }
