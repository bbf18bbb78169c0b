import Node

#if Bitwarden
    import Bitwarden
#endif
#if Database
    import DatabaseEndpoint
#endif
#if Gorush
    import Gorush
#endif
#if Mailbox
    import MailboxEndpoint
#endif
#if Owner
    import Owner
#endif
#if PhonePage
    import PhonePage
#endif
#if StatusIM
    import StatusIMEndpoint
#endif
#if WebPushIn
    import WebPushIn
#endif

extension Features {
    /// The features that this program was built with, in the order in which they are read and opened: a feature is a trait of
    /// the package, its import, and its lines here.
    package static let built: Features = {
        var kinds: [any Feature.Type] = []
        var leftOut: [Features.LeftOut] = []
        #if WebPushIn
            kinds.append(WebPushFeature.self)
        #else
            leftOut.append("web_push")
        #endif
        #if Gorush
            kinds.append(GorushFeature.self)
        #else
            leftOut.append("gorush")
        #endif
        #if Bitwarden
            kinds.append(BitwardenFeature.self)
        #else
            leftOut.append("bitwarden")
        #endif
        #if StatusIM
            kinds.append(StatusIMFeature.self)
        #else
            leftOut.append("status")
        #endif
        #if PhonePage
            kinds.append(PhonePageFeature.self)
        #else
            leftOut.append("phone_page")
        #endif
        #if Mailbox
            kinds.append(MailboxFeature.self)
        #else
            leftOut.append("mailbox")
        #endif
        #if Database
            kinds.append(DatabaseFeature.self)
        #else
            leftOut.append(
                Features.LeftOut("database", section: "storage", keys: ["url", "password_file"]))
        #endif
        #if Owner
            kinds.append(OwnerFeature.self)
        #else
            leftOut.append(Features.LeftOut("owner", section: "console"))
        #endif
        return Features(kinds, leftOut: leftOut)
    }()
}
