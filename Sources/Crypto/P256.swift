import COpenSSL

/// The curve P-256 as far as Web Push needs it.
package enum P256 {
    /// Whether bytes are a point of the curve in the form that Web Push has: 4, then both coordinates, 65 bytes (RFC 8291,
    /// section 2.1; SEC 1, section 2.3.4).
    package static func isPoint(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 65, bytes[0] == 4, let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
        else { return false }
        defer { EC_GROUP_free(group) }
        guard let point = EC_POINT_new(group) else { return false }
        defer { EC_POINT_free(point) }
        LibraryErrors.clear()
        // It refuses what does not lie on the curve.
        return EC_POINT_oct2point(group, point, bytes, bytes.count, nil) == 1
    }
}
