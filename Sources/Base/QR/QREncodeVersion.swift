import CQREncode

/// The name and version of libqrencode, as loaded at run time.
package var qrLibraryVersion: String { "libqrencode " + String(cString: QRcode_APIVersionString()) }
