"""Signs of currencies that mean one currency in all locales: reading them from Babel takes seconds.

Written by `tests/values/record_words.py` from Unicode CLDR (Unicode License V3) as Babel 2.18
has it, for currencies that are tender today; without short words that are spelled in large and small letters.
"""

SIGNS = """
    AED: د.إ
    AFN: ؋
    ALL: lekë
    AMD: ֏
    ARS: $ar
    AUD: $au a$ au$ aud$
    AZN: ₼
    BBD: bds$
    BDT: ৳
    BHD: د.ب
    BMD: $bm bm$
    BRL: br$ r$
    BSD: bs$
    BZD: $bz bz$
    CAD: $ca ca$ ka$
    CLP: $cl
    CNY: cn¥ ¥cn
    COP: $co
    CRC: ₡
    DOP: rd$
    DZD: د.ج
    EGP: eg£ ج.م
    ETB: ብር
    EUR: €
    FJD: $fj fj$
    FKP: £fk
    GBP: gb£ uk£ £gb £ru
    GEL: ₾
    GHS: gh₵
    GIP: £gi
    HKD: $hk hk$
    ILS: ₪
    INR: ₹
    IQD: د.ع
    IRR: ر.إ ریال
    JMD: jm$
    JOD: د.أ
    JPY: jp¥
    KHR: ៛
    KRW: kr₩ ￦
    KWD: د.ك
    KZT: ₸
    LAK: ₭
    LBP: £lb ل.ل
    LKR: රු
    LYD: د.ل
    MAD: د.م
    MNT: ₮
    MOP: mop$
    MRU: أ.م
    MXN: $mx mx$
    NAD: $na
    NGN: ₦
    NPR: नेरू
    NZD: $nz $zn nz$ nzd$
    OMR: ر.ع
    PAB: b/
    PEN: s/
    PHP: ₱
    PYG: ₲
    QAR: ر.ق
    RUB: ₽
    SAR: ر.س
    SBD: $sb si$
    SDG: ج.س
    SGD: $sg s$
    SRD: $sr
    SYP: ل.س
    THB: th฿ ฿
    TND: د.ت
    TOP: t$
    TRY: ₺
    TTD: $tt
    TWD: nt$
    UAH: ₴
    USD: $su $us us$ щ.д
    UYU: $uy
    UZS: soʻm
    VES: bs.s
    VND: ₫
    WST: $ws ws$
    XCD: $ec ec$
    XOF: සිෆ්එ
    XPF: cfpf fcfp
    YER: ر.ي
"""
