import CNGHTTP2

/// The name and version of libnghttp2, as loaded at run time.
package var http2LibraryVersion: String {
    nghttp2_version(0).map { "nghttp2 " + String(cString: $0.pointee.version_str) } ?? "nghttp2"
}
