"""The invented world of the sample: businesses, people, goods. Telephone numbers are from ranges reserved for fiction."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

ABN_WEIGHTS = (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)


@dataclass(frozen=True, slots=True)
class Business:
    """A business that sends documents. `phone` has a `#` for each digit to draw; `tax` is the rate in percent, 0 for none."""

    name: str
    street: str
    phone: str
    domain: str
    currency: str
    tax: int
    trade: str


@dataclass(frozen=True, slots=True)
class Person:
    """A customer, private or a company, with a postal address."""

    name: str
    address: str


AUSTRALIAN = (
    Business(
        "Wattlebird Plumbing Pty Ltd",
        "14 Coolamon Street, Brunswick VIC 3056",
        "(03) 5550 ####",
        "wattlebird.example",
        "AUD",
        10,
        "plumbing",
    ),
    Business(
        "Illawarra Office Supplies",
        "220 Keira Lane, Wollongong NSW 2500",
        "(02) 5550 ####",
        "illawarraoffice.example",
        "AUD",
        10,
        "office",
    ),
    Business(
        "Red Gum Electrical Services",
        "7 Billabong Court, Echuca VIC 3564",
        "(03) 7010 ####",
        "redgumelectrical.example",
        "AUD",
        10,
        "electrical",
    ),
    Business(
        "Café Zaffré",
        "31 Little Lantern Lane, Fitzroy VIC 3065",
        "(03) 5550 ####",
        "cafezaffre.example",
        "AUD",
        10,
        "food",
    ),
    Business(
        "Brolga Building Materials Pty Ltd",
        "88 Quarry Road, Ipswich QLD 4305",
        "(07) 5550 ####",
        "brolgabuild.example",
        "AUD",
        10,
        "plumbing",
    ),
    Business(
        "O'Dowd & Sons Catering",
        "5/19 Harbourview Parade, Fremantle WA 6160",
        "(08) 7010 ####",
        "odowdcatering.example",
        "AUD",
        10,
        "food",
    ),
    Business(
        "Lyrebird Design Studio",
        "402 Signal Box Road, Newtown NSW 2042",
        "(02) 7010 ####",
        "lyrebird.example",
        "AUD",
        10,
        "office",
    ),
    Business(
        "Murrumbidgee Fresh Grocers",
        "61 Orchard Drive, Wagga Wagga NSW 2650",
        "(02) 5550 ####",
        "murrumfresh.example",
        "AUD",
        10,
        "food",
    ),
)
FOREIGN = (
    Business(
        "Müßig & Söhne Werkzeuge GmbH",
        "Lindenwinkel 12, 50667 Köln",
        "+49 221 4710 ###",
        "muessig.example",
        "EUR",
        19,
        "electrical",
    ),
    Business(
        "Boulangerie Crème d'Été SARL",
        "8 rue du Vieux Cerisier, 69001 Lyon",
        "+33 4 65 71 ## ##",
        "cremedete.example",
        "EUR",
        20,
        "food",
    ),
    Business(
        "Tamarack Valley Tools Inc.",
        "1450 Millrace Avenue, Dayton, OH 45402",
        "+1 937 555 01##",
        "tamarackvalley.example",
        "USD",
        0,
        "plumbing",
    ),
    Business(
        "Blue Heron Stationers LLC",
        "77 Ferry Landing, Portland, ME 04101",
        "+1 207 555 01##",
        "blueheron.example",
        "USD",
        0,
        "office",
    ),
)
BANKS = (
    Business(
        "Southern Cross Mutual Bank",
        "1 Meridian Square, Sydney NSW 2000",
        "1800 160 401",
        "scmutual.example",
        "AUD",
        0,
        "bank",
    ),
    Business(
        "Bank of Bass Strait",
        "25 Lighthouse Road, Hobart TAS 7000",
        "(03) 7010 ####",
        "bassstrait.example",
        "AUD",
        0,
        "bank",
    ),
    Business(
        "Yarra People's Credit Union",
        "310 Tramway Street, Melbourne VIC 3000",
        "(03) 5550 ####",
        "yarrapeople.example",
        "AUD",
        0,
        "bank",
    ),
)
CUSTOMERS = (
    Person("Priya Ramanathan", "9 Kurrajong Avenue, Parramatta NSW 2150"),
    Person("Northshore Dental Group", "Level 3, 55 Pelican Street, Chatswood NSW 2067"),
    Person("José Álvarez Núñez", "18 Tallow Wood Close, Geelong VIC 3220"),
    Person("Bluestone Property Trust", "120 Cobbler Lane, Ballarat VIC 3350"),
    Person("Mei-Ling Chow", "2/47 Jacaranda Street, Toowong QLD 4066"),
    Person("Kingfisher Primary School", "64 Reserve Road, Bendigo VIC 3550"),
    Person("Zoë Brontë-Hall", "23 Saltbush Crescent, Glenelg SA 5045"),
    Person("Harrier Freight Logistics Pty Ltd", "Unit 8, 5 Depot Street, Altona VIC 3018"),
    Person("Tomáš Dvořák", "101 Mulberry Terrace, West End QLD 4101"),
    Person("Ironbark Community Theatre", "15 Footlights Lane, Orange NSW 2800"),
)
GOODS = {
    "plumbing": {
        "Copper pipe 15 mm x 6 m": 3850, "PVC elbow 90° 50 mm": 415, "Hot water valve 500 kPa": 8990, "Thread seal tape": 195,
        "Basin mixer tap, chrome": 15900, "Drain clearing, per hour": 13200, "Brass compression fitting 20 mm": 1265,
        "Flexible hose 450 mm": 1480,
    },
    "office": {
        "A4 copy paper 80 gsm, carton of 5": 3495, "Gel pens, black (box of 12)": 1840, "Lever arch file 75 mm": 690,
        "Toner cartridge 410X": 21450,
        "Whiteboard 1200 x 900 mm": 18900, "Desk lamp, LED": 5995, "Logo design, revision 2": 48000, "Business cards, 500": 8250,
    },
    "electrical": {
        "LED downlight 10 W, warm white": 1790, "Safety switch 32 A": 6480, "Cable 2.5 mm² twin and earth, 100 m": 19850,
        "Double power point": 1125,
        "Labour, licensed electrician": 11000, "Smoke alarm, photoelectric": 4295, "Switchboard inspection": 16500,
        "Conduit 25 mm x 4 m": 955,
    },
    "food": {
        "Flat white, large": 580, "Sourdough loaf": 950, "Croissant aux amandes": 720, "Free-range eggs, dozen": 875,
        "Crème brûlée": 1350, "Sandwich platter (serves 10)": 11500, "Orange juice 2 L": 640, "Tomatoes, vine-ripened, kg": 795,
    },
}  # fmt: skip
"""Cents per unit, without tax, by trade and description."""

TAGS = ("urgent", "capital works", "stationery", "reimbursable", "catering", "site 12", "recurring", "travel")
MOVEMENTS = {
    "Salary - Harrier Freight": (285_000, 415_000), "Direct debit Coral Energy": (-31_000, -9_500),
    "EFTPOS Murrumbidgee Fresh Grocers": (-24_000, -1_200),
    "ATM withdrawal Fitzroy": (-40_000, -5_000), "Transfer from savings": (20_000, 150_000),
    "Rent - Bluestone Property Trust": (-245_000, -160_000),
    "Card purchase Café Zaffré": (-4_800, -550), "Interest paid": (15, 2_900), "Monthly account fee": (-1_200, -500),
    "BPAY Bass Strait Water": (-42_000, -11_000), "Refund Illawarra Office Supplies": (690, 21_450),
    "Transfer to J. Álvarez": (-90_000, -2_000),
}  # fmt: skip
"""Lowest and highest amount in cents by the text of the transaction."""


def draw_digits(rng: Random, pattern: str) -> str:
    """Return the pattern with every `#` replaced by a digit."""
    return "".join(rng.choice("0123456789") if mark == "#" else mark for mark in pattern)


def draw_abn(rng: Random) -> str:
    """Return an Australian Business Number with a right checksum, in its usual groups."""
    body = [rng.randint(0, 9) for _ in range(9)]
    weighted = sum(digit * weight for digit, weight in zip(body, ABN_WEIGHTS[2:], strict=True))
    # The first digit counts one less than it says; the pairs 11 to 99 give each remainder modulo 89 once.
    check = next(pair for pair in range(11, 100) if ((pair // 10 - 1) * 10 + pair % 10 + weighted) % 89 == 0)
    text = f"{check}{''.join(map(str, body))}"
    return f"{text[:2]} {text[2:5]} {text[5:8]} {text[8:]}"
