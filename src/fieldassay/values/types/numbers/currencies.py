"""Symbols and names of currencies."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from fieldassay.values.types.numbers.unit_spellings import spellings

_DOLLARS = frozenset(
    {
        "USD",
        "AUD",
        "CAD",
        "NZD",
        "SGD",
        "HKD",
        "TWD",
        "MXN",
        "ARS",
        "CLP",
        "COP",
        "UYU",
        "BBD",
        "BMD",
        "BSD",
        "BZD",
        "BND",
        "BOB",
        "BRL",
        "CUP",
        "DOP",
        "FJD",
        "GYD",
        "JMD",
        "KYD",
        "LRD",
        "NAD",
        "NIO",
        "SBD",
        "SRD",
        "TTD",
        "XCD",
    }
)

GENERIC = MappingProxyType(
    {
        "$": _DOLLARS,
        "£": frozenset({"GBP", "EGP", "FKP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"}),
        "¥": frozenset({"JPY", "CNY"}),
        "kr": frozenset({"SEK", "NOK", "DKK", "ISK"}),
        "Rs": frozenset({"INR", "PKR", "LKR", "NPR", "MUR", "SCR"}),
        "Fr": frozenset({"CHF", "XAF", "XOF", "XPF", "BIF", "CDF", "DJF", "GNF", "KMF", "RWF"}),
        "﷼": frozenset({"IRR", "OMR", "QAR", "SAR", "YER"}),
    }
)
"""Symbols of several currencies, with these currencies."""

SYMBOLS = spellings(
    """
    EUR: € euro euros
    INR: ₹
    KRW: ₩
    ILS: ₪
    VND: ₫ đ
    PHP: ₱
    TRY: ₺ tl
    RUB: ₽ руб
    UAH: ₴
    NGN: ₦
    CRC: ₡
    PYG: ₲
    GHS: ₵ gh₵
    KZT: ₸
    MNT: ₮
    LAK: ₭
    AZN: ₼
    GEL: ₾
    THB: ฿
    KHR: ៛
    BDT: ৳
    Rs: ₨ rupee rupees
    PLN: zł zl
    CZK: kč
    HUF: ft
    BGN: лв
    RON: lei
    MYR: rm
    IDR: rp rupiah
    ZAR: r
    JPY: 円 jp¥ yen
    CNY: 元 rmb cn¥ yuan
    CHF: sfr
    USD: us$ u$s usd$
    AUD: a$ au$
    CAD: c$ ca$
    NZD: nz$
    SGD: s$
    HKD: hk$
    TWD: nt$
    MXN: mx$ mex$
    BRL: r$
    ARS: ar$
    CLP: cl$
    COP: col$
    XCD: ec$
    ¥: ￥
    $: ＄ dollar dollars peso pesos
    £: ￡ pound pounds
    AED: dhs dh
    """
)
"""Other symbols and names, in lower case and without a final point: currency, or symbol of `GENERIC`."""

COMMON = frozenset(
    {
        "EUR",
        "USD",
        "GBP",
        "JPY",
        "CHF",
        "AUD",
        "CAD",
        "NZD",
        "CNY",
        "INR",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "BRL",
        "MXN",
        "ZAR",
        "SGD",
        "HKD",
        "KRW",
        "IDR",
        "TRY",
        "THB",
        "MYR",
        "PHP",
        "AED",
    }
)
"""Codes recognized in any letter case; all others only in capitals."""

WITHOUT_CENTS = frozenset(
    {
        "BIF",
        "CLP",
        "DJF",
        "GNF",
        "IDR",
        "ISK",
        "JPY",
        "KMF",
        "KRW",
        "LAK",
        "PYG",
        "RWF",
        "UGX",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    }
)
"""Currencies whose amounts have no decimal places in practice."""


@cache
def codes() -> frozenset[str]:
    """Return the ISO 4217 codes, historical ones included."""
    from babel import Locale

    return frozenset(map(str, Locale("en").currencies))


_GENERIC_NAMES = {symbol.lower(): symbol for symbol in reversed(GENERIC)}


def currency_named(text: str) -> str | None:
    """Return the currency of a symbol, a name or a code: an ISO code, a symbol of `GENERIC`, or None.

    >>> [currency_named(text) for text in ("US$", "aud", "Rs.", "$", "kr.", "pcs")]
    ['USD', 'AUD', 'Rs', '$', 'kr', None]
    """
    if text.upper() in COMMON:
        return text.upper()
    name = text.rstrip(".").lower()  # not casefolded: `ſ$` is not `S$`
    if name in _GENERIC_NAMES:
        return _GENERIC_NAMES[name]
    if name in SYMBOLS:
        return SYMBOLS[name]
    return text if len(text) == 3 and text.isascii() and text.isupper() and text in codes() else None
