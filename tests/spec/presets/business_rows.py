"""Rows of the business documents guide, and edge cases with scores worked out by hand.

A row is (field, gold, prediction, score).
"""

from __future__ import annotations

from typing import Any

Row = tuple[str, Any, Any, float]

# The guide's own rows. Where its tables contradict its cascade, the cascade wins; the figure printed in the
# guide is noted then.
IDS: list[Row] = [
    ("BUSINESS_ABN", "06082698025", "06 082 698 025", 1.0),
    ("BUSINESS_ABN", "06 082 698 025", "06-082-698-025", 1.0),
    ("BUSINESS_ABN", "06 082 698 025", "06082698025", 1.0),
    ("BUSINESS_ABN", "06082698025", "06082698026", 0.0),
]
TEXTS: list[Row] = [
    ("SUPPLIER_NAME", "Aussie Office Supplies Pty Ltd", "Aussie Office Supplies Pty", 0.9),  # printed: 0.80
    ("SUPPLIER_NAME", "123 Main Street Sydney NSW 2000", "123 Main Street Sydney NSW", 0.9),
    ("SUPPLIER_NAME", "Aussie Office Supplies Limited", "Aussie Office Supplies Ltd", 0.0),
    ("SUPPLIER_NAME", "123 Main St Sydney", "456 Collins St Melbourne", 0.0),
    ("SUPPLIER_NAME", "Aussie Office Supplies Corporation Pty Ltd", "Aussie Office Supplies Pty Ltd", 5 / 6),
    ("SUPPLIER_NAME", "ACME Corp", "acme corp", 1.0),
    ("SUPPLIER_NAME", "Acme Corporation Ltd", "Acme Corp", 0.9),
    ("SUPPLIER_NAME", "Acme Corp Pty Ltd", "Acme Corp Pty", 0.9),  # printed: 0.0
    ("SUPPLIER_NAME", "Acme Corp Pty Ltd Australia", "Acme Corp Pty Ltd", 0.9),  # printed: 0.80
    ("SUPPLIER_NAME", "Acme Corp Pty Ltd Australia", "Ltd Acme Corp Pty", 0.8),
    ("SUPPLIER_NAME", "Acme Corporation Pty Ltd", "Acme Corporation", 0.9),
    ("SUPPLIER_NAME", "Aussie Office Supplies Pty Ltd", "Aussie Office Supplies", 0.9),  # printed: 0.6
    ("BUSINESS_ADDRESS", "123 Main St Sydney NSW", "Sydney NSW 123 Main St", 1.0),
    ("SUPPLIER_NAME", "ACME CORP", "Acme Corp", 1.0),
    ("SUPPLIER_NAME", "Acme Corp", "Acme, Corp.", 1.0),
    ("BUSINESS_ADDRESS", "A B", "A | B", 1.0),
    ("SUPPLIER_NAME", "Limited", "Ltd", 0.0),
    ("SUPPLIER_NAME", "Main", "Mian", 0.0),
    ("PAYER_ADDRESS", "123 Main Street | Sydney NSW 2000", "123 Main Street Sydney NSW 2000", 1.0),
    ("PAYER_ADDRESS", "123 Main St | Sydney NSW 2000", "123 Main St Sydney NSW 2000", 1.0),
    ("BUSINESS_ADDRESS", "123 Main St | Sydney NSW 2000", "123 Main St\nSydney NSW 2000", 1.0),
]
SURPRISES: list[Row] = [
    ("SUPPLIER_NAME", "Acme Corporation", "Acme Corp", 0.9),  # printed: 0.0
    ("SUPPLIER_NAME", "Acme Corporation", "Acme Corp Ltd", 0.0),
    ("TOTAL_AMOUNT", "$100.00", "$101.50", 0.0),
    ("INVOICE_DATE", "04/05/2025", "05/04/2025", 1.0),
    ("BUSINESS_ABN", "06-082-698-025", "06 082 698 025", 1.0),
    ("BUSINESS_ADDRESS", "123 Main St | Sydney", "123 Main St Sydney", 1.0),
    ("TOTAL_AMOUNT", "$1234", "$1,234", 1.0),
    ("SUPPLIER_NAME", '"ACME"', "acme", 1.0),
]
MONEY: list[Row] = [
    ("TOTAL_AMOUNT", "$1,234.56", "$ 1234.56", 1.0),
    ("TOTAL_AMOUNT", "$1234.56", "$1,234.56", 1.0),
    ("TOTAL_AMOUNT", "$100.00", "$100.01", 1.0),
    ("TOTAL_AMOUNT", "$99.99", "$100.00", 1.0),
    ("TOTAL_AMOUNT", "$10,000", "$10,100", 1.0),
    ("TOTAL_AMOUNT", "$10,000", "$10,100.01", 0.0),
    ("GST_AMOUNT", "$1234.56", "1234.56", 1.0),
    ("GST_AMOUNT", "100", "99", 1.0),
    ("GST_AMOUNT", "100", "98.99", 0.0),
    ("GST_AMOUNT", "0.07", "0.0707", 1.0),  # exactly 1%, which binary fractions would miss
    ("GST_AMOUNT", "0", "$0.01", 1.0),
    ("GST_AMOUNT", "$0.00", "0.011", 0.0),
    ("GST_AMOUNT", "-100", "-101", 1.0),
    ("GST_AMOUNT", "-100", "100", 0.0),
    ("GST_AMOUNT", "$50.00", "AUD 50.20 incl GST", 1.0),
    ("GST_AMOUNT", "$50.00", "fifty", 0.0),
    ("GST_AMOUNT", "n/a", "$50.00", 0.0),
    ("GST_AMOUNT", "n/a", "N/A", 1.0),
    ("GST_AMOUNT", "$12.50", "$12.50-", 0.0),
    ("GST_AMOUNT", "$12.50", "$12.5.0", 0.0),
    ("GST_AMOUNT", "$99.87", 99.87, 1.0),
    ("GST_AMOUNT", "$", "%", 1.0),
]
DATES: list[Row] = [
    ("INVOICE_DATE", "15/03/2025", "15-03-2025", 1.0),
    ("INVOICE_DATE", "15/03/2025", "15-Mar-2025", 0.8),
    ("INVOICE_DATE", "15/03/2025", "15/04/2025", 0.8),
    ("INVOICE_DATE", "15/03/2025", "16/04/2025", 0.0),
    ("INVOICE_DATE", "05/08/2025", "5/8/2025", 0.0),
    ("INVOICE_DATE", "05/05/2025", "05/2025", 1.0),
    ("INVOICE_DATE", "March", "15/03/2025", 0.0),
    ("INVOICE_DATE", "March", "MARCH", 1.0),
    ("INVOICE_DATE", "March", "April", 0.0),
    ("STATEMENT_DATE_RANGE", "01/07/2025 - 31/07/2025", "01/07/2025 to 31/07/2025", 1.0),
    ("STATEMENT_DATE_RANGE", "01/07/2025 - 31/07/2025", "31 July 2025", 0.8),
]
BOOLEANS: list[Row] = [
    *[("IS_GST_INCLUDED", "true", word, 1.0) for word in ("TRUE", "1", "yes", "Y", True, 1)],
    *[("IS_GST_INCLUDED", "false", word, 1.0) for word in ("False", "0", "no", "N", False, 0)],
    ("IS_GST_INCLUDED", "true", "false", 0.0),
    ("IS_GST_INCLUDED", "yes", "0", 0.0),
    ("IS_GST_INCLUDED", "true", "t", 0.0),
    ("IS_GST_INCLUDED", "included", "true", 0.0),
    ("IS_GST_INCLUDED", "included", "Included", 1.0),
    ("IS_GST_INCLUDED", "yes", "(yes)", 1.0),
    ("IS_GST_INCLUDED", "y", "(yes)", 0.0),
]
PHONES: list[Row] = [
    ("CONTACT_PHONE", "(02) 9374 4000", "02 9374 4000", 1.0),
    ("CONTACT_PHONE", "02 9374 4000", "02 9374 4011", 0.8),
    ("CONTACT_PHONE", "02 9374 4000", "02 9374 4111", 0.5),
    ("CONTACT_PHONE", "02 9374 4000", "02 9375 1111", 0.0),
    ("CONTACT_PHONE", "02 9374 4000", "02 9374 400", 0.0),
    ("CONTACT_PHONE", "02 9374 4000", "none", 0.0),
    ("CONTACT_PHONE", "unlisted", "none", 0.0),
    ("CONTACT_PHONE", "12345", "12349", 0.8),
    ("CONTACT_PHONE", "12345", "12399", 0.5),
    ("CONTACT_PHONE", "12345", "12999", 0.0),
]
TYPES: list[Row] = [
    ("DOCUMENT_TYPE", "invoice", "tax invoice", 1.0),
    ("DOCUMENT_TYPE", "TAX INVOICE", "Invoice", 1.0),
    ("DOCUMENT_TYPE", "TAX  INVOICE", "Invoice", 1.0),
    ("DOCUMENT_TYPE", "INVOICE", "Quotation", 1.0),
    ("DOCUMENT_TYPE", "quote", "proforma", 1.0),
    ("DOCUMENT_TYPE", "BANK_STATEMENT", "Credit Card Statement", 1.0),
    ("DOCUMENT_TYPE", "BANK_STATEMENT", "bank statement", 1.0),
    ("DOCUMENT_TYPE", "invoice", "receipt", 0.0),
    ("DOCUMENT_TYPE", "invoice", "letter", 0.0),
    ("DOCUMENT_TYPE", "letter", "LETTER", 1.0),
    ("DOCUMENT_TYPE", "letter", "memo", 0.0),
]
LISTS: list[Row] = [
    ("LINE_ITEM_DESCRIPTIONS", "Item 1 | Item 2 | Item 3", "item 3|ITEM 1|Item 2", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "Item 1 | Item 2 | Item 3", "Item 1 | Item 2", 2 / 3),
    ("LINE_ITEM_DESCRIPTIONS", "Red pen | Ink", "Pen | Paper | Ink", 2 / 3),
    ("LINE_ITEM_DESCRIPTIONS", "Red pen", "Pen | Red", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "Pen", "pen | pen | pen", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "Pen | Ink", "Paper", 0.0),
    ("LINE_ITEM_DESCRIPTIONS", "a || b", "a | b", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "a | NOT_FOUND", "a", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "Copy paper, A4 | Toner", "copy paper A4|toner", 1.0),
    ("LINE_ITEM_QUANTITIES", "1 | 12", "2 | 1", 1.0),  # 2 is contained in 12
    ("LINE_ITEM_PRICES", "$1,800.00 | $5.00", "1800.00 | 5.00", 1.0),
    ("LINE_ITEM_PRICES", "$1,800.00 | $5.00", "1800.00 | 5.00 | 7.00", 1 / 3),
    ("LINE_ITEM_PRICES", "$5.00 | $6.00", [5, 6], 1.0),
    ("LINE_ITEM_TOTAL_PRICES", "a | b", "|", 0.0),
]
TRANSACTIONS: list[Row] = [
    (
        "TRANSACTION_AMOUNTS_PAID",
        "$50.00 | $75.25 | $100.00",
        "$50.00 | $75.25 | $99.99",
        1.0,
    ),  # printed: 0.67, see the test of `tolerance: 0`
    ("TRANSACTION_AMOUNTS_PAID", "$50.00 | $75.25 | $100.00", "$50.00 | $75.25 | $98.99", 2 / 3),
    ("TRANSACTION_AMOUNTS_PAID", "$50.00 | $75.25", "$50.00 | $75.25 | $1.00", 2 / 3),
    ("TRANSACTION_AMOUNTS_PAID", "$50.00 | | $75.25", "$50.00 | $75.25", 1 / 3),
    ("TRANSACTION_AMOUNTS_PAID", "$50.00 | NOT_FOUND | $75.25", "$50.10 | | $75.25", 1.0),
    ("TRANSACTION_AMOUNTS_PAID", "$50.00 | NOT_FOUND", "$50.10 | $0.00", 0.5),
    ("TRANSACTION_BALANCES", "$0.00 | n/a", "$0.01 | none", 0.5),
    ("TRANSACTION_BALANCES", "$450.00 | $374.75", "$374.75 | $450.00", 0.0),
    ("TRANSACTION_DATES", "01/05/2025 | 02/05/2025", "1 May 2025 | 2 May 2025", 1.0),
    ("TRANSACTION_DATES", "01/05/2025 | 02/05/2025", "01 May | 02/05/25", 1.0),
    ("TRANSACTION_DATES", "01/05/2025 | 02/05/2025", "2025-05-01 | 2025-05-03", 0.5),
    ("TRANSACTION_DATES", "04/05/2025", "05/04/2025", 0.0),
    ("TRANSACTION_DATES", "03/05/2025", "03/05/20253", 0.0),
    ("TRANSACTION_DATES", "03/05/2025", "03/05/202", 0.0),
    ("TRANSACTION_DATES", "03/05/2025", "03/05/999", 0.0),
    ("TRANSACTION_DATES", "03/05/2025", "3 May 20255", 0.0),
    ("TRANSACTION_DATES", "03/05/2025", "03/05/0025", 0.0),
    ("TRANSACTION_DATES", "03/05/20253", "03/05/2025", 0.0),
    ("TRANSACTION_DATES", "03/05/2025 ref 12345", "3 May 2025 ref 12345", 1.0),
    ("TRANSACTION_DATES", "04/05/2025 | 05/05/2025", "04 | 05/05", 0.5),
    ("TRANSACTION_DATES", "03/07/2025 | 10/07/2025", "10/07/2025 | 03/07/2025", 0.0),
    ("TRANSACTION_DESCRIPTIONS", "EFTPOS | Salary", " eftpos |SALARY ", 1.0),
    ("TRANSACTION_DESCRIPTIONS", "EFTPOS | Salary", "EFTPOS Corner Fuel | Salary", 0.5),
    ("TRANSACTION_DESCRIPTIONS", "EFTPOS | Salary", "Salary | EFTPOS", 0.0),
    ("TRANSACTION_DESCRIPTIONS", "EFTPOS, fee | Salary", "eftpos fee | salary", 1.0),
    ("TRANSACTION_DESCRIPTIONS", "EFTPOS, fee | Salary", "eftpos fee | rent", 0.0),
]
PRESENCE: list[Row] = [
    ("TOTAL_AMOUNT", "NOT_FOUND", "NOT_FOUND", 1.0),
    ("TOTAL_AMOUNT", "NOT_FOUND", "  not_found ", 1.0),
    ("TOTAL_AMOUNT", "NOT_FOUND", None, 1.0),
    ("TOTAL_AMOUNT", "", "NOT_FOUND", 1.0),
    ("TOTAL_AMOUNT", "NOT_FOUND", "$5", 0.0),
    ("TOTAL_AMOUNT", "$5", "NOT_FOUND", 0.0),
    ("TOTAL_AMOUNT", "$0.00", "NOT_FOUND", 0.0),
    ("SUPPLIER_NAME", "NOT_FOUND", "not found", 0.0),
    ("SUPPLIER_NAME", "!!!", "Acme", 0.0),  # nothing is left of it, and nothing is contained in nothing
    ("SUPPLIER_NAME", "!!!", "…", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "NOT_FOUND", [], 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "NOT_FOUND | NOT_FOUND", "NOT_FOUND", 1.0),
    ("LINE_ITEM_DESCRIPTIONS", "NOT_FOUND", ["NOT_FOUND", None, ""], 1.0),
    ("TRANSACTION_DATES", "NOT_FOUND", "NOT_FOUND | NOT_FOUND", 1.0),
    ("TRANSACTION_DATES", "NOT_FOUND", [None, ""], 1.0),
    ("TRANSACTION_DATES", "01/05/2025", " | ", 0.0),
]
ODD: list[Row] = [
    ("TOTAL_AMOUNT", "$5", ["$5"], 0.0),
    ("TOTAL_AMOUNT", "$5", {"amount": 5}, 0.0),
    ("LINE_ITEM_DESCRIPTIONS", "a | b", {"a": "b"}, 0.0),
    ("SUPPLIER_NAME", "Café", "Cafe", 0.0),
    ("SUPPLIER_NAME", "Acme\u00a0Corp", "Acme Corp", 1.0),
    ("SUPPLIER_NAME", "“Acme” — Corp", "Acme Corp", 1.0),
    ("SUPPLIER_NAME", "Acme $ Corp", "Acme Corp", 1.0),
    ("TOTAL_AMOUNT", "$5", "5" * 100_000, 0.0),
    ("INVOICE_DATE", "15/03/2025", "15/03/2025 " * 20_000, 1.0),
    ("SUPPLIER_NAME", "Acme", "Acme" * 100_000, 0.9),
    ("LINE_ITEM_DESCRIPTIONS", "a", "a | " * 20_000, 1.0),
]

ROWS: dict[str, list[Row]] = {
    "ids": IDS,
    "texts": TEXTS,
    "surprises": SURPRISES,
    "money": MONEY,
    "dates": DATES,
    "booleans": BOOLEANS,
    "phones": PHONES,
    "document types": TYPES,
    "lists": LISTS,
    "transactions": TRANSACTIONS,
    "presence": PRESENCE,
    "odd": ODD,
}
