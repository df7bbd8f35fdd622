"""Words that mean the same in documents, whatever the field: what an alias table most often lacks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from fieldassay.diagnosis.folding import match_keys

_GROUPS = (
    "yes|y|true|1|on|checked|ja|oui|si|sim",
    "no|n|false|0|off|unchecked|nein|non|não",
    "male|m|man|masculine|masculino|männlich",
    "female|f|woman|feminine|femenino|weiblich",
    "paid|settled|paid in full",
    "unpaid|open|outstanding|due|not paid|owing",
    "cancelled|canceled|void|voided|annulled",
    "approved|authorized|authorised",
    "rejected|declined|denied|refused",
    "completed|complete|done|finished",
    "invoice|tax invoice|bill",
    "receipt|sales receipt|proof of purchase",
    "quote|quotation|estimate",
    "credit note|credit memo|adjustment note",
    "bank statement|account statement|statement of account",
    "positive|reactive",
    "negative|non reactive",
    "bank transfer|wire transfer|eft|direct deposit",
    "cheque|check",
    "cash on delivery|cod",
    "debit|dr|withdrawal",
    "credit|cr|deposit",
    "united states|united states of america|usa|us|u.s.|america",
    "united kingdom|uk|great britain|gb",
    "australia|au|commonwealth of australia",
    "germany|deutschland|de",
    "netherlands|holland|the netherlands",
    "south korea|republic of korea|korea",
    "new south wales|nsw",
    "victoria|vic",
    "queensland|qld",
    "western australia|wa",
    "south australia|sa",
    "australian dollar|aud|a$",
    "us dollar|usd|us$|united states dollar",
    "euro|eur|€",
    "pound sterling|british pound|gbp|£",
    "monthly|every month|per month|once a month",
    "weekly|every week|per week|once a week",
    "daily|every day|per day|once a day|qd",
    "twice a day|twice daily|bid|two times a day",
    "three times a day|three times daily|tid",
    "yearly|annually|annual|every year|per year|per annum",
    "quarterly|every quarter|every three months",
    "by mouth|oral|orally|po|vía oral|oralmente",
    "oxygen|o2",
    "carbon dioxide|co2",
    "carbon monoxide|co",
    "water|h2o",
    "methane|ch4",
    "hydrogen|h2",
    "nitrogen|n2",
    "paracetamol|acetaminophen",
    "attorney|lawyer",
    "car|automobile",
    "mobile|cell|cell phone|mobile phone",
    "zip code|postal code|postcode|zip",
    "surname|last name|family name",
    "first name|given name|forename",
)


@cache
def synonym_groups() -> Mapping[str, frozenset[int]]:
    """Return the numbers of the synonym groups that a match key is in.

    >>> synonym_groups()["taxinvoice"] == synonym_groups()["bill"]
    True
    """
    table: dict[str, frozenset[int]] = {}
    for number, group in enumerate(_GROUPS):
        for key in match_keys(group.split("|")):
            table[key] = table.get(key, frozenset()) | {number}
    return MappingProxyType(table)
