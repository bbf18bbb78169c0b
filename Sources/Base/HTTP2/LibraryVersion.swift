import CNGHTTP2

/// The version of the library that the process runs with.
package var http2LibraryVersion: String {
    nghttp2_version(0).map { "nghttp2 " + String(cString: $0.pointee.version_str) } ?? "nghttp2"
}
