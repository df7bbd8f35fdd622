"""The business documents protocol once more, in plain Python, straight from its description."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

BOTH, SALES, STATEMENTS = (
    ("invoice", "receipt", "bank_statement"),
    ("invoice", "receipt"),
    ("bank_statement",),
)

FIELDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "DOCUMENT_TYPE": ("document type", BOTH),
    "BUSINESS_ABN": ("numeric id", BOTH),
    "SUPPLIER_NAME": ("text", BOTH),
    "BUSINESS_ADDRESS": ("text", BOTH),
    "CONTACT_PHONE": ("phone", BOTH),
    "PAYER_NAME": ("text", SALES),
    "PAYER_ADDRESS": ("text", SALES),
    "INVOICE_DATE": ("date", SALES),
    "IS_GST_INCLUDED": ("boolean", SALES),
    "GST_AMOUNT": ("money", SALES),
    "TOTAL_AMOUNT": ("money", SALES),
    "LINE_ITEM_DESCRIPTIONS": ("list", SALES),
    "LINE_ITEM_QUANTITIES": ("list", SALES),
    "LINE_ITEM_PRICES": ("list", SALES),
    "LINE_ITEM_TOTAL_PRICES": ("list", SALES),
    "STATEMENT_DATE_RANGE": ("date", STATEMENTS),
    "TRANSACTION_DATES": ("transaction dates", STATEMENTS),
    "TRANSACTION_DESCRIPTIONS": ("transaction texts", STATEMENTS),
    "TRANSACTION_AMOUNTS_PAID": ("transaction amounts", STATEMENTS),
    "TRANSACTION_BALANCES": ("transaction amounts", STATEMENTS),
}
ALIASES = {
    "invoice": "invoice", "tax invoice": "invoice", "tax_invoice": "invoice", "estimate": "invoice",
    "quote": "invoice", "quotation": "invoice", "proforma": "invoice", "proforma invoice": "invoice",
    "pro forma invoice": "invoice",
    "receipt": "receipt", "sales receipt": "receipt", "purchase receipt": "receipt",
    "payment receipt": "receipt",
    "bank_statement": "bank_statement", "bank statement": "bank_statement",
    "account statement": "bank_statement", "statement": "bank_statement",
    "credit card statement": "bank_statement",
}  # fmt: skip
YES, NO = {"true", "1", "yes", "y"}, {"false", "0", "no", "n"}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def is_list_kind(kind: str) -> bool:
    return kind == "list" or kind.startswith("transaction")


def is_empty(value: Any, kind: str = "text") -> bool:
    if value is None or value in ([], {}):
        return True
    if isinstance(value, list):
        return all(is_empty(item) for item in value)
    if isinstance(value, dict):
        return all(is_empty(item) for item in value.values())
    if not isinstance(value, str):
        return False
    if is_list_kind(kind) and "|" in value:
        return all(is_empty(item) for item in value.split("|"))
    return value.strip() == "" or value.strip().casefold() == "not_found"


def as_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value)


def bare(text: str) -> str:
    return "".join(char for char in text if char not in ",$%() ")


def squeeze(text: str) -> str:
    return " ".join(text.split())


def plain_text(value: Any) -> str:
    text = as_text(value).lower().replace("|", " ")
    return squeeze("".join(char for char in text if unicodedata.category(char)[0] != "P"))


def field_score(kind: str, gold: Any, pred: Any) -> float:
    """The score of one field in one document."""
    if is_empty(gold, kind) or is_empty(pred, kind):
        return float(is_empty(gold, kind) and is_empty(pred, kind))
    if is_list_kind(kind):
        return list_score(kind, gold, pred)
    if isinstance(gold, list | dict) or isinstance(pred, list | dict):
        return float(gold == pred)
    if kind == "text":
        return text_score(plain_text(gold), plain_text(pred))
    given, found = (squeeze(as_text(value).lower()) for value in (gold, pred))
    if bare(given) == bare(found):
        return 1.0
    return {
        "numeric id": id_score,
        "money": money_score,
        "date": date_score,
        "boolean": boolean_score,
        "phone": phone_score,
        "document type": lambda one, other: float(one in ALIASES and ALIASES.get(one) == ALIASES.get(other)),
    }[kind](given, found)


def id_score(gold: str, pred: str) -> float:
    given, found = re.sub(r"\D", "", gold), re.sub(r"\D", "", pred)
    return float(given == found != "")


def amount(text: str) -> Fraction | None:
    kept = "".join(char for char in text if char.isdecimal() or char in ".-")
    sign, digits = (-1, kept[1:]) if kept.startswith("-") else (1, kept)
    whole, _point, rest = digits.partition(".")
    if not (whole + rest) or not all(char.isdecimal() for char in whole + rest):
        return None
    return sign * Fraction(int(whole + rest), 10 ** len(rest))


def money_score(gold: str, pred: str, share: Fraction = Fraction(1, 100)) -> float:
    given, found = amount(gold), amount(pred)
    if given is None or found is None:
        return 0.0
    return float(abs(found - given) <= (abs(given) * share if given else Fraction(1, 100)))


def date_score(gold: str, pred: str) -> float:
    given, found = set(re.findall(r"\d+", gold)), set(re.findall(r"\d+", pred))
    if not given or not found:
        return 0.0
    return 1.0 if given == found else 0.8 if len(given & found) >= 2 else 0.0


def boolean_score(gold: str, pred: str) -> float:
    return float(any(gold in words and pred in words for words in (YES, NO)))


def phone_score(gold: str, pred: str) -> float:
    given, found = re.sub(r"\D", "", gold), re.sub(r"\D", "", pred)
    if not given or not found:
        return 0.0
    if given == found:
        return 1.0
    same = sum(one == other for one, other in zip(given, found, strict=False))
    if len(given) != len(found) or 10 * same < 6 * len(given):
        return 0.0
    return 0.8 if 10 * same >= 8 * len(given) else 0.5


def text_score(gold: str, pred: str) -> float:
    if bare(gold) == bare(pred):
        return 1.0
    if not gold or not pred:
        return 0.0
    if gold in pred or pred in gold:
        return 0.9
    given, found = set(gold.split()), set(pred.split())
    share = len(given & found) / len(given)
    return share if 10 * len(given & found) >= 8 * len(given) else 0.0


def items_of(value: Any) -> list[str]:
    parts = value.split("|") if isinstance(value, str) else value if isinstance(value, list) else [value]
    return ["" if is_empty(part) else as_text(part).lower() for part in parts]


def list_score(kind: str, gold: Any, pred: Any) -> float:
    if isinstance(gold, dict) or isinstance(pred, dict):
        return float(gold == pred)
    given, found = items_of(gold), items_of(pred)
    if kind == "list":
        given, found = [item for item in given if item], [item for item in found if item]
    if [bare(item) for item in given] == [bare(item) for item in found]:
        return 1.0
    longest = max(len(given), len(found))
    if kind == "list":
        return min(1.0, sum(any(one in other or other in one for other in given) for one in found) / longest)
    return sum(same_item(kind, one, other) for one, other in zip(given, found, strict=False)) / longest


def same_item(kind: str, gold: str, pred: str) -> bool:
    if gold == pred:
        return True
    if not gold or not pred:
        return False
    if kind == "transaction amounts":
        return bool(money_score(gold, pred))
    return kind == "transaction dates" and same_day(gold, pred)


def strange_numbers(text: str) -> set[str]:
    """Numbers that are neither a day, nor a month, nor a year."""
    return {
        number
        for number in re.findall(r"\d+", text)
        if len(number) > 2 and not re.fullmatch("[12][0-9]{3}", number)
    }


def same_day(gold: str, pred: str) -> bool:
    if strange_numbers(gold) != strange_numbers(pred):
        return False
    given, found = day_parts(gold), day_parts(pred)
    shared = [(given[part], found[part], part) for part in given if part in found]
    return len(shared) >= 2 and all(agree(*pair) for pair in shared)


def agree(one: int, other: int, part: str) -> bool:
    return one % 100 == other % 100 if part == "year" and min(one, other) < 100 else one == other


def day_parts(text: str) -> dict[str, int]:
    """Return day, month and year of a statement date: 15/03/2025, 15/03, 15 Mar 2025, 15-Mar, 2025-03-15."""
    parts: dict[str, int] = {}
    numbers = re.findall(r"\d+", text)
    for word in re.findall(r"[a-z]{3,}", text):
        if word[:3] in MONTHS:
            parts.setdefault("month", MONTHS.index(word[:3]) + 1)
    short = [int(number) for number in numbers if len(number) <= 2]
    order = ["day", "month", "year"]
    for number in numbers:
        if number not in strange_numbers(text) and len(number) == 4 and "year" not in parts:
            parts["year"] = int(number)
    if numbers and len(numbers[0]) == 4:
        order = ["month", "day"]
    for name, number in zip([name for name in order if name not in parts], short, strict=False):
        parts[name] = number
    return parts


@dataclass
class Expected:
    """What the protocol says of one system's predictions."""

    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    tp: int = 0
    fp: int = 0
    fn: int = 0

    def documents(self) -> dict[str, float]:
        return {name: sum(scores.values()) / len(scores) for name, scores in self.scores.items() if scores}

    def metrics(self) -> dict[str, float | None]:
        accuracies, flat = (
            list(self.documents().values()),
            [score for scores in self.scores.values() for score in scores.values()],
        )
        return {
            "overall_accuracy": sum(accuracies) / len(accuracies),
            "document_accuracy": sum(accuracies) / len(accuracies),
            "pooled_accuracy": sum(flat) / len(flat),
            "perfect_documents": sum(accuracy >= 0.99 - 1e-12 for accuracy in accuracies),
            "precision": self.tp / (self.tp + self.fp) if self.tp + self.fp else None,
            "recall": self.tp / (self.tp + self.fn) if self.tp + self.fn else None,
            "f1": 2 * self.tp / (2 * self.tp + self.fp + self.fn)
            if 2 * self.tp + self.fp + self.fn
            else None,
        }

    def fields(self) -> dict[str, float]:
        names = dict.fromkeys(name for scores in self.scores.values() for name in scores)
        listed = {name: [scores[name] for scores in self.scores.values() if name in scores] for name in names}
        return {name: sum(scores) / len(scores) for name, scores in listed.items()}


def type_of(record: Mapping[str, Any]) -> str | None:
    value = record.get("DOCUMENT_TYPE")
    return ALIASES.get(" ".join(value.split()).lower()) if isinstance(value, str) else None


def expect(
    gold: Sequence[Mapping[str, Any]], pred: Sequence[Mapping[str, Any]], key: str = "image_file"
) -> Expected:
    """The scores of all fields that apply, and the counts of the report."""
    answers, expected = {record[key]: record for record in pred}, Expected()
    columns = {name for record in gold for name in record}
    for record in gold:
        answer, kind_of_document = answers.get(record[key], {}), type_of(record)
        scores = expected.scores.setdefault(record[key], {})
        for name, (kind, having) in FIELDS.items():
            if name not in columns or (kind_of_document is not None and kind_of_document not in having):
                continue
            given, found = record.get(name), answer.get(name)
            scores[name] = field_score(kind, given, found)
            has_gold, has_pred = not is_empty(given, kind), not is_empty(found, kind)
            is_right = has_gold and has_pred and scores[name] > 0.5
            expected.tp += is_right
            expected.fp += has_pred and not is_right
            expected.fn += has_gold and not is_right
    return expected
