import CQREncode

/// The version of the library that the process runs with.
package var codeLibraryVersion: String { "libqrencode " + String(cString: QRcode_APIVersionString()) }
