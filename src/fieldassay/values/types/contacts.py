"""Types of contacts: phone numbers, mail and web addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlsplit

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Reader, Reading, UnreadableError, json_text, unreadable
from fieldassay.values.types.dates.names import fold, locale_data
from fieldassay.values.types.text import whole_number

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber


# Telephone numbers.

_LONGEST_PHONE = 100
# The types of vCard (RFC 6350, 6.4.1), in the languages whose dates are read.
_LABELS = """
☎ ✆ 📞 📱
tel telephone phone fon mobile mob cell cellphone cellular fax telefax facsimile home work office business
main direct private personal pager voice text sms hotline toll free freephone no nr num number ph phn
contact telefon mobil handy telefonnummer rufnummer festnetz buro zentrale geschaftlich dienstlich arbeit
privat zuhause portable bureau domicile fixe travail numero telefono movil celular cel oficina casa trabajo
fijo cellulare ufficio lavoro fisso telefone telemovel escritorio trabalho residencial telefoon mobiel
kantoor thuis werk prive arbete hem kontor arbejde hjem jobb puhelin puh matkapuhelin koti tyo faksi komorka
kom dom praca biuro faks mobilni prace domu kancelar telepon seluler kantor rumah cep ev ofis birou acasa
serviciu mobiltelefon iroda otthon kancelaria domov feina mobiiltelefon kodu too mobilais darbs majas
mobilusis darbas namai sluzba posao kuca τηλ τηλεφωνο κιν κινητο φαξ тел телефон моб мобильныи факс дом раб
робота дім служебен
"""
_LETTERS = "[tmpfchwo]"
_PHONE_LABEL = "|".join(sorted(_LABELS.split(), key=len, reverse=True))
_LETTER_BEFORE = re.compile(rf"^[\s(\[]*{_LETTERS}(?=[.:)\s])[\s.:)\]\-–—/]*(?=[\d(\[+])")
_BEFORE = re.compile(rf"^[\s(\[]*(?:{_PHONE_LABEL})(?![^\W\d_])[\s.:)\]\-–—/]*(?=[\w(\[+])")
_GAP = r"[\s,;(\[\-–—/]"
_BEHIND = re.compile(
    rf"(?:(?<!{_GAP}){_GAP}*+(?<![^\W\d_])(?:{_PHONE_LABEL})|(?<!\s)\s*+[(\[]{_LETTERS})[\s.)\]]*+$"
)
_EXTENSION = re.compile(
    r"(?<![\s,;(])[\s,;(]*+(?:ext(?:ension)?|extn|xtn|x|#|durchwahl|dw|poste|int(?:erno)?|anexo|ramal|toestel|tst|app(?:arat)?"
    r"|доб|wew|lokal|anknytning)[.:=\s]*+(\d{1,8})\)?$"
)
"""An extension, by the words of libphonenumber and some of Europe and Brazil."""
_JOINT = re.compile(
    r"(?<!\s)(?:\s*+(?:[/|&;,]|\b(?:or|and|oder|und|ou|et|o|y|e)\b|(?<=\s)(?<!\n)[-–—]\s)|\s*?\n)\s*+"
)
_WORD_TEXT = r"[^\W\d_]+|[^\w\s()\[\]+./\\\-–—‐‑−,;:*#~'’|&]"
_PLAIN = re.compile(r"[\d()+.]+(?:[ -][\d()+.]+)*")
_WORD = re.compile(_WORD_TEXT)
_MEXICO = 52
_OLD_MOBILE = re.compile(r"1\d{10}")
"""Mexico's mobile numbers with the 1 that they had from abroad until 2019."""
_NORTH_AMERICA, _FEWEST_LETTERS, _FEWEST_DIGITS, _MOST_DIGITS = 1, 3, 7, 15


class PhoneReader(Reader, Struct, frozen=True):
    """Reads phone numbers in international form (E.164), with `;ext=` before an extension.

    `region` (AU, US, or that of the locale) is the country of numbers without a country code. Without a
    region such numbers are compared by their digits and flagged `ambiguous`. A number outside its country's
    plan stays comparable and is flagged `invalid_phone`. Labels such as `Tel.` and `(mobile)` are passed
    over; other letters are read only as an extension or a vanity number.

    >>> [PhoneReader("AU").read(text).canonical for text in ("(02) 9374 4000 ext. 12", "+61 2 9374 4000")]
    ['+61293744000;ext=12', '+61293744000']
    """

    region: str | None = None
    locale: str | None = None

    def __post_init__(self) -> None:
        if self.locale is not None:
            locale_data(self.locale)
        if self.region is not None:
            from phonenumbers import SUPPORTED_REGIONS

            if self.region not in SUPPORTED_REGIONS:
                raise ValueError(f"unknown region {self.region!r}; write two capital letters, such as AU")

    def read(self, raw: Scalar) -> Reading:
        number = whole_number(raw)
        text = json_text(raw)
        flags = () if isinstance(raw, str) else ("coerced",)
        if isinstance(raw, bool) or (number is None and isinstance(raw, float)):
            return unreadable(text, "is not a phone number")
        if len(text) > _LONGEST_PHONE:
            return unreadable(text, "is too long for a phone number")
        try:
            canonical, remarks = self._number(text if number is None else str(number))
        except UnreadableError as why:
            return unreadable(text, why, flags)
        return Reading(text, canonical, canonical, (*remarks, *flags))

    def _number(self, text: str) -> tuple[str, tuple[str, ...]]:
        region = self.region or (locale_data(self.locale).territory if self.locale else None)
        plain = fold(text)
        if not (is_plain := _PLAIN.fullmatch(plain)):
            plain = _without_labels(plain)
        extension = None if is_plain else _EXTENSION.search(plain)
        main = plain[: extension.start()] if extension else plain
        shown = f";ext={extension[1]}" if extension else ""
        is_national = region is None and not main.lstrip("(").startswith("+")
        if not is_plain and _are_two(main, region):
            raise UnreadableError("is two phone numbers")
        words = [] if is_plain else _WORD.findall(main)
        if is_national:
            digits = "".join(char for char in main if char.isdecimal())
            if len(digits) < 3:
                raise UnreadableError("is not a phone number")
            if words:
                raise UnreadableError(f"{words[0][:40]!r} is not part of a phone number")
            return digits + shown, ("ambiguous",)
        return _international(main, region, words, shown)


def _international(
    main: str, region: str | None, words: list[str], shown: str
) -> tuple[str, tuple[str, ...]]:
    from phonenumbers import NumberParseException, PhoneNumberFormat, format_number, is_valid_number, parse

    try:
        number = parse(main, region)
    except NumberParseException:
        raise UnreadableError("is not a phone number") from None
    is_valid = is_valid_number(number)
    national = str(number.national_number)
    if not is_valid and number.country_code == _MEXICO and _OLD_MOBILE.fullmatch(national):
        number.national_number = int(national[1:])
        is_valid = is_valid_number(number)
    if words and not (is_valid and _is_vanity(number, main, words)):
        raise UnreadableError(f"{words[0][:40]!r} is not part of a phone number")
    if number.extension and not shown:
        shown = f";ext={number.extension}"
    return format_number(number, PhoneNumberFormat.E164) + shown, () if is_valid else ("invalid_phone",)


def _is_vanity(number: PhoneNumber, main: str, words: list[str]) -> bool:
    """Return whether the letters are keys: in North America, or of a free, shared or personal number."""
    from phonenumbers import PhoneNumberType, is_alpha_number, number_type

    kinds = (
        PhoneNumberType.TOLL_FREE,
        PhoneNumberType.SHARED_COST,
        PhoneNumberType.PREMIUM_RATE,
        PhoneNumberType.PERSONAL_NUMBER,
        PhoneNumberType.UAN,
    )
    return (
        sum(map(len, words)) >= _FEWEST_LETTERS
        and not any(len(word) == 1 or set(word) <= set("oil") for word in words)  # misread digits
        and is_alpha_number(main)
        and main.strip("(+ ")[0].isdecimal()
        and (number.country_code == _NORTH_AMERICA or number_type(number) in kinds)
    )


def _without_labels(text: str) -> str:
    before, text = "", _LETTER_BEFORE.sub("", text)
    while before != text:
        before, text = text, _BEHIND.sub("", _BEFORE.sub("", text)).strip()
    return text


def _are_two(text: str, region: str | None) -> bool:
    """Return whether there are two numbers: two valid ones, or one before a stroke or an `or`."""
    from phonenumbers import NumberParseException, PhoneNumberMatcher, is_valid_number, parse

    joint = _JOINT.search(text)
    if joint is None:
        return False
    sides = text[: joint.start()], text[joint.end() :]
    digits = [sum(map(str.isdecimal, side)) for side in sides]
    if region is None and (
        sum(digits) > _MOST_DIGITS or (min(digits) >= _FEWEST_DIGITS and not text.startswith("0"))
    ):
        return True
    if sum(1 for _ in PhoneNumberMatcher(text, region)) > 1:
        return True
    try:
        return (
            bool(digits[1])
            and joint[0].strip() not in ("", ",", ";")
            and is_valid_number(parse(sides[0], region))
        )
    except NumberParseException:
        return False


# E-mail and web addresses.

_LONGEST_ADDRESS = 320
_HOST_LABEL = re.compile(r"[^\W_](?:[\w-]{0,61}[^\W_])?")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):(?!\d{1,5}(?:/|$))")
_ESCAPES = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_UNFIT = re.compile(r"[\s\x00-\x1f\x7f<>\"]")
_PORTS = {"http": 80, "https": 443, "ftp": 21, "ws": 80, "wss": 443}


class EmailReader(Reader, Struct, frozen=True):
    """Reads e-mail addresses in lower case, without `mailto:` and a display name around `<…>`.

    With `case_sensitive` the part before the `@` keeps its case.

    >>> EmailReader().read("Ana Ruiz <Ana.Ruiz@Example.COM>").canonical
    'ana.ruiz@example.com'
    """

    case_sensitive: bool = False

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str) or len(text) > _LONGEST_ADDRESS:
            return unreadable(text, "is not an e-mail address")
        address = _email(text, self.case_sensitive)
        words = text.rpartition("<")[0].lower().split()
        shown = (word.strip("()\"',;<>") for word in words if "@" in word)
        return Reading(
            text, address, address, ("contradictory",) * any(word != address.lower() for word in shown)
        )


def _email(text: str, is_case_sensitive: bool) -> str:
    opening = text.rfind("<")
    plain = text[opening + 1 : -1] if opening >= 0 and text.endswith(">") else text
    if plain[:7].lower() == "mailto:":
        plain = plain[7:].partition("?")[0]
    local, at, domain = plain.strip().rpartition("@")
    if not at:
        raise UnreadableError("has no @")
    if not local or len(local) > 64 or _UNFIT.search(local) or "@" in local:
        raise UnreadableError("has no valid part before the @")
    return f"{local if is_case_sensitive else local.lower()}@{_host(domain)}"


def _host(domain: str) -> str:
    host = domain.lower().removesuffix(".")
    if host.startswith("[") and host.endswith("]") and not _UNFIT.search(host):
        return host
    host = _readable_host(host)
    labels = host.split(".")
    if len(labels) < 2 or not all(map(_HOST_LABEL.fullmatch, labels)):
        raise UnreadableError("has no valid domain")
    return host


def _readable_host(host: str) -> str:
    """Return a host with the letters that its punycode stands for (RFC 3492).

    >>> _readable_host("xn--bcher-kva.example")
    'bücher.example'
    """
    try:
        return ".".join(
            label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
            for label in host.split(".")
        )
    except UnicodeError:
        return host


class UrlReader(Reader, Struct, frozen=True):
    """Reads web addresses and normalizes scheme, host, default port and percent escapes.

    Scheme and host are in lower case, percent escapes in upper case, a default port is dropped, an empty path
    is `/`. Path, query and fragment keep their case and order. An address without a scheme gets `scheme` and
    is flagged `ambiguous`.

    >>> UrlReader().read("HTTPS://Example.com:443").canonical, UrlReader().read("www.example.com/a").canonical
    ('https://example.com/', 'https://www.example.com/a')
    """

    scheme: str = "https"

    def __post_init__(self) -> None:
        if not _SCHEME.fullmatch(f"{self.scheme}:"):
            raise ValueError(f"{self.scheme!r} is not a scheme; write it like https")

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str):
            return unreadable(text, "is not a web address")
        url, is_assumed = self._url(text.removeprefix("<").removesuffix(">"))
        return Reading(text, url, url, ("ambiguous",) if is_assumed else ())

    def _url(self, text: str) -> tuple[str, bool]:
        if _UNFIT.search(text):
            raise UnreadableError("has a character that no web address has")
        scheme = _SCHEME.match(text)
        if scheme is None:
            return _with_host(
                f"{self.scheme.lower()}:{'' if text.startswith('//') else '//'}{text}", needs_domain=True
            ), True
        rest = text[scheme.end() :]
        if scheme[1].lower() == "mailto":
            address, mark, query = rest.partition("?")
            return f"mailto:{_email(address, False)}{mark}{query}" if len(
                address
            ) <= _LONGEST_ADDRESS else text, False
        if not rest:
            raise UnreadableError("has nothing after its scheme")
        if not rest.startswith("//"):
            return f"{scheme[1].lower()}:{_escapes(rest)}", False
        return _with_host(f"{scheme[1].lower()}:{rest}", needs_domain=False), False


def _with_host(text: str, needs_domain: bool) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise UnreadableError("is not a web address") from None
    host = _readable_host((parts.hostname or "").removesuffix("."))
    if needs_domain:
        _host(host)
    if not host and parts.scheme != "file":
        raise UnreadableError("has no host")
    user, at, _ = parts.netloc.rpartition("@")
    shown = f"[{host}]" if ":" in host else host
    shown += "" if port is None or port == _PORTS.get(parts.scheme) else f":{port}"
    return _escapes(
        SplitResult(parts.scheme, user + at + shown, parts.path or "/", parts.query, parts.fragment).geturl()
    )


def _escapes(text: str) -> str:
    """Return an address without the percent escapes that say nothing, the others in capitals (RFC 3986).

    >>> _escapes("/Stra%c3%9fe/a%2db?x=%2f%FF")
    '/Straße/a-b?x=%2F%FF'
    """
    return _ESCAPES.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(match[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return match[0].upper()
    plain = [char in "-._~" or char.isalnum() or (char > "\x7f" and char.isprintable()) for char in text]
    return "".join(
        char if is_plain else quote(char, safe="") for char, is_plain in zip(text, plain, strict=True)
    )
