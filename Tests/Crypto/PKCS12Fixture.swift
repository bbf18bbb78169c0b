/// Made once by OpenSSL's command line: EC key, self-signed certificate for a made-up topic, password `sesame`.
enum PKCS12Fixture {
    static let topic = "bisqremote.joachimneumann.com"
    /// 2126-10-28 08:38:46 UTC.
    static let validUntil: Int64 = 4_948_850_326

    /// `openssl pkcs12 -export -legacy`: RC2-40, 3DES, SHA-1.
    static let oldFile = """
        MIIEMgIBAzCCA/gGCSqGSIb3DQEHAaCCA+kEggPlMIID4TCCAtcGCSqGSIb3DQEHBqCCAsgwggLEAgEAMIICvQYJKoZIhvcNAQcB \
        MBwGCiqGSIb3DQEMAQYwDgQI6NIM7214qF8CAggAgIICkNTLTZUg3GRc582Zrf0Pr0y1sY5Jkl042ieBqE5SxOG2xaxd4oisusRf \
        FPucMtQ3KPQbc1PnjHKO31PHPTMWytsWm8liB+QK65a73gtfoeHAqM6OuxjDUNFBpN8BG0fDxyhsHspj9pS4oSAWfFeefjqGPlx8 \
        9gQngIa1CBMy7ZCXViEKeM3Thj0yzomrgcu0UhWKqQBK+IeXm6mQZyIix5qZHXqANGlYO+l/m9Gxgt0TJTj234afks47E+DWJUO0 \
        41isPeI03W/T1QpzsjaiFwwOogzKOqmmFQJ94emWcRRImA8SpVpSLWlD2/J3MnNS5HZWXZMP/ZvydJmTKCJEfzGPDfIuZ0DlWvP6 \
        i24n4riTqPV7H+ObFgzxxr/uTZ3rcWdG0wrkTjXHd5mMoqOIZ8rFwKYTdQeeeBo9xWbWgJigB3QCVzW0vM7bLmV6eo3ZbzWtbUIz \
        UB4BiE4yzeDNkHp/u4YeeYBzdDVA+/hNuNgKbEsrOlYiEoU+jDitwsbmedCKqGwKr+ZKK8Anqao7sTSqyuGsgcYYfCVVq0o2k9v/ \
        PTGyBX7briZhFebTcw7h/GULwdbhyNMZcrvIkCx3XwliicM2qJ2ag4ovGMpp/RKkByMT0bmv/C+L/xpAH8XERBzgBEkGOmrpAyDw \
        KN9kYuyvhAv4okY7CujNHgMT/Py55DQ1jESAeMaWU+d9T8EZTjOdJPxKlo398koixKo6u4DhWkszEeySQCtSjgMyrkgA9Evhmq/R \
        +Cq08kyk36aeo3fllXXZnQTBqx84whVHAQILTnYqRLR2So/nc7JL7GfyyuokTxihWvopJDZbhrUSvAY91rCBXdQLw1TZYKiYPbt6 \
        PRguYrVrJ+6Hdv64NV4bMIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHrBgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAED \
        MA4ECB0Rx0b0RyWOAgIIAASBkA4wDtUm/KsHRCZCpUn5dcYBf4wZAVKMygJX9wZ0WNQS7NAo7H+t4VFneN5TIYIt1VwORzS6U6Pj \
        2SqDXDa9LH4Lxf9kYHPyRkJgFgPfbbANqp9qy9g37xA6i39SEDaUgLE+GevNe0MwC7137LAVnj0HM9X6TOZMgoE2HTCdFQPBkOkr \
        6jVfe62OrE1IQNLd3TElMCMGCSqGSIb3DQEJFTEWBBRTuTQOgPZREZSJeTcSvquqkgnbNzAxMCEwCQYFKw4DAhoFAAQUB/m2teML \
        /ST/CQiMNKxfq2GIp+oECFcp2FxiBohkAgIIAA==
        """.filter { $0 != " " }

    /// `openssl pkcs12 -export`: AES-256, SHA-256.
    static let newFile = """
        MIIEvAIBAzCCBHIGCSqGSIb3DQEHAaCCBGMEggRfMIIEWzCCAxIGCSqGSIb3DQEHBqCCAwMwggL/AgEAMIIC+AYJKoZIhvcNAQcB \
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjpgXGbVMjYMAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEC2U \
        I/xhfwcSYB2+A3EGo7SAggKQWg8sX2/dT5oyFpVEoZPUXkDxlIEGVmxiVqVrDUpXRMQU+vqg26oQuCT6T8ZQHKm41g/Y8Eulh8iS \
        tWTq91rTDg1J+uLLSLYOcF+rrO1z/9gnjuMjnlzuDDeYfzlQQtqdkHNCqv9iupMCaiSBhimKOH4/gF+WmHkE2XjWynmzZHoiNQTU \
        JqetyjADcYlfRgLrsHDsPgaP6o6DpdJIHJFogvtdciHkaALA+5wbI/fcnXc5bSfwj+d+QuZ4j5wi0jUjwqVrGRKFxh2oHK/wLUZ2 \
        JALmK/7W54ym3Ijr0e9sqve/JLVg16PAo/IwBBL3vNrtYpzYP0ajQ62nGOcQehY4+eDVB3MjnJs/sHaRotW4TxP12SqULA0TjFLC \
        ZZSw7B4RxKZ2obt4/xZptUHtH1JsjLE7jaIocuT6aHMs8NPsWV7ooNwfCtA+PnJGz3EjpJ7vCFQgguRhebZ6DFhzlBGrXiQWv1wN \
        EhgziY6PbY4Dd3aaIR2GIkJGaCjFFYlNGJ1H3QgSWQ1NaHmhT8AdIQajkF21WMyJcsjGFAjziJ2CtHeJDGdlIpxqU6vqBZbB9qUv \
        8XW39hx1WQfzWO/gqVWWCCaeowH9vqzP3/0WKlNTZFpPzsapkQQRZE/W5gT9+ntRHZ8AvymPpjxDoo5XRGEc9Nz512biXsa+VypN \
        C3gfQDdFH4/EVls3Ga6r2YLc8rWfyyCtX5cnylOTJY7zUMwD+Md/MYKFuPqP62zcU6b5ebxyAMX+KQerT3bFLiitDI72SZJUNv3J \
        +iZVsrWY3GxKXoCRcjg/k7fc2BKQLTY0mAb4AX9WJLFl9UjC7eBzQex72zcIbKJcaV9ObZLnE4kyTV9vWTP1NE3nSrgKem71c5sw \
        ggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0B \
        BQwwHAQIMLa5scxLVoACAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBBn6DMSSRWOtbAsXrAaMs54BIGQ4G4JLtq3YmIH \
        HzOakWE3MN7Ha/y6PcwzM/DPBSM5okhmVKRG3eBTdZo86p9EMWPYh7tigi5P0QPyK8YE2AudGbVOoU8Bd4rUz6eJ2RpE6OwX50vD \
        7+hlQ9sOmOLvxk7Ck5wXhDVJWmU7LbH+iDaqfy894/bCs+DWN5TsOsCIlwYEaHp6cLwuw+iz+2Dn08cbMSUwIwYJKoZIhvcNAQkV \
        MRYEFFO5NA6A9lERlIl5NxK+q6qSCds3MEEwMTANBglghkgBZQMEAgEFAAQgNRHkt6mfQ+Z9ma7oMM9xckBge2TulDHYhXi9+X2l \
        kGEECCZV5TpHe7grAgIIAA==
        """.filter { $0 != " " }
}
