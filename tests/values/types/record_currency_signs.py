"""Writes `values/types/numbers/currency_signs.py` from the installed Babel: `python tests/values/types/record_currency_signs.py`."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from pathlib import Path

from babel import Locale
from babel.localedata import locale_identifiers
from babel.numbers import get_territory_currencies

from fieldassay.values.types.numbers import currencies

PAGE = Path(currencies.__file__).with_name("currency_signs.py")
NO_SIGNS = ("$bn", "$a", "ރ", "ر", "元")
"""Billions of dollars, dollars with one letter behind, and single letters."""
HEAD = '''"""Signs of currencies that mean one currency in all locales: reading them from Babel takes seconds.

Written by `tests/values/types/record_currency_signs.py` from Unicode CLDR (Unicode License V3) as Babel 2.18
has it, for currencies that are tender today; without short words that are spelled in large and small letters.
"""

SIGNS = """
'''


def render_signs() -> str:
    """Return the module; a sign without spaces, in small letters and without a final point."""
    found = defaultdict(set)
    locales = [Locale.parse(name) for name in sorted(locale_identifiers())]
    tender = {code for one in locales if one.territory for code in get_territory_currencies(one.territory)}
    for one in locales:
        for code, sign in one.currency_symbols.items():
            found[currencies.folded_sign(sign)].add(code)
    by_code = defaultdict(list)
    for sign, meant in sorted(found.items()):
        [code, *others] = sorted(meant)
        is_doubtful = (len(sign) < 4 and sign.isalpha() and sign.upper() != sign) or sign in NO_SIGNS
        if sign and not others and code in tender and sign.upper() != code and not is_doubtful:
            by_code[code].append(sign)
    lines = (f"{code}: {' '.join(signs)}" for code, signs in sorted(by_code.items()))
    return HEAD + textwrap.indent("\n".join(lines), "    ") + '\n"""\n'


if __name__ == "__main__":
    PAGE.write_text(render_signs(), encoding="utf-8")
