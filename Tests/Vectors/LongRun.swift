import Glibc

/// Whether this is `Deploy/test --long`: what takes long is then done in full, and otherwise in its short form.
package let isLong = getenv("TEST_LONG") != nil
