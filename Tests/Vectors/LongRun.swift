import Glibc

/// How long a test waits for what must come: as long as the run, which is the only one with a limit.
package let theRun: Duration = .seconds(6 * 3600)

/// Whether this is `Deploy/test --long`: what takes long is then done in full, and otherwise in its short form.
package let isLong = getenv("TEST_LONG") != nil
