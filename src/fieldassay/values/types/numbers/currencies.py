"""Currencies: their codes, and the signs and words that people write for them."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from fieldassay.values.types.locales import find_locale, territory_currencies
from fieldassay.values.types.numbers.currency_signs import SIGNS
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
        "FCFA": frozenset({"XAF", "XOF"}),
        "DH": frozenset({"AED", "MAD"}),
        "lei": frozenset({"RON", "MDL"}),
        "Br": frozenset({"BYN", "ETB"}),
        "Bs": frozenset({"BOB", "VES"}),
        "din": frozenset({"RSD", "BHD", "DZD", "IQD", "JOD", "KWD", "LYD", "MKD", "TND"}),
        "Sh": frozenset({"KES", "SOS", "TZS", "UGX"}),
        "C$": frozenset({"CAD", "NIO"}),
        "元": frozenset({"CNY", "TWD"}),
        "₩": frozenset({"KRW", "KPW"}),
        "manat": frozenset({"AZN", "TMT"}),
    }
)
"""Symbols of several currencies, with these currencies."""

SYMBOLS = spellings(
    SIGNS
    + """
    EUR: € euro euros
    INR: ₹
    KRW: 원
    ILS: ₪ nis
    KES: ksh
    TZS: tsh
    UGX: ush
    SEK: skr
    NOK: nkr
    DKK: dkr
    ISK: ikr
    VND: ₫ đ vnđ
    PHP: ₱
    TRY: ₺ tl
    RUB: ₽ руб
    UAH: ₴ грн
    NGN: ₦
    CRC: ₡
    PYG: ₲
    GHS: ₵ gh₵
    KZT: ₸
    MNT: ₮
    LAK: ₭
    AZN: ₼
    GEL: ₾
    THB: ฿ บาท
    KHR: ៛
    BDT: ৳ tk
    Rs: ₨ rupee rupees
    PLN: zł zl
    CZK: kč
    HUF: ft
    BGN: лв
    MYR: rm
    IDR: rp rupiah
    ZAR: r
    JPY: 円 jp¥ yen
    CNY: rmb cn¥ yuan
    CHF: sfr
    USD: us$ u$s usd$
    AUD: a$ au$
    CAD: ca$
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
    DH: dhs dirham dirhams
    FCFA: cfa
    lei: leu
    din: dinar dinars
    Sh: shs shilling shillings
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


_APART = re.compile(r"(?<=[^\W\d_]{2}) (?=[$£¥])|(?<=[$£¥]) (?=[^\W\d_]{2})|(?<=\b[Ff]) (?=(?i:cfa)\b)")
_GENERIC_NAMES = {symbol.lower(): symbol for symbol in reversed(GENERIC)}


def folded_sign(text: str) -> str:
    """Return a name as `SYMBOLS` has it; `US $` is `US$`, a lone letter stands apart.

    >>> folded_sign("US $"), folded_sign("د.إ.\u200f"), folded_sign("A $")
    ('us$', 'د.إ', 'a $')
    """
    shown = " ".join("".join(char for char in text if unicodedata.category(char) != "Cf").split())
    return _APART.sub("", shown).rstrip(".").lower()  # not casefolded: `ſ$` is not `S$`


@lru_cache(maxsize=64)
def own_signs(locale: str | None) -> Mapping[str, str]:
    """Return the signs and names of the currencies of the locale's country, in its language.

    >>> own_signs("th_TH")["บาท"], own_signs("th")
    ('THB', {})
    """
    codes = territory_currencies(locale)
    tables = [getattr(find_locale(str(locale)), name) for name in ("currencies", "currency_symbols") if codes]
    signs = {folded_sign(table[code]): code for table in tables for code in codes if code in table}
    return {sign: code for sign, code in signs.items() if sign not in _GENERIC_NAMES}


@lru_cache(maxsize=4096)
def currency_named(text: str, locale: str | None = None) -> str | None:
    """Return the currency of a symbol, a name or a code: an ISO code, a symbol of `GENERIC`, or None.

    The names of the locale's country come first.

    >>> [currency_named(text) for text in ("US$", "aud", "Rs.", "$", "kr.", "US $", "pcs")]
    ['USD', 'AUD', 'Rs', '$', 'kr', 'USD', None]
    """
    if text.upper() in COMMON:
        return text.upper()
    name = folded_sign(text)
    if name in _GENERIC_NAMES:
        return _GENERIC_NAMES[name]
    code = own_signs(locale).get(name) if locale else None
    if code or name in SYMBOLS:
        return code or SYMBOLS[name]
    return text if len(text) == 3 and text.isascii() and text.isupper() and text in codes() else None
