"""Makes gold of MUC-4: `python muc4.py KEYS ... gold.jsonl`.

Reads key files (`2.  INCIDENT: DATE   - 02 FEB 90`), and JSON of messages with `templates` or `extracts`. A
message is one record with the fillers of all its templates. The first mention of a filler is gold, its other
mentions are accepted. An optional filler (`?`), and any filler of an optional template, accepts silence. Both
ends of a range of days are accepted.
"""

import json
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

SLOTS = {
    "INCIDENT: TYPE": "incident_type",
    "INCIDENT: DATE": "incident_date",
    "INCIDENT: LOCATION": "incident_location",
    "INCIDENT: INSTRUMENT ID": "weapon",
    "PERP: INDIVIDUAL ID": "perp_individual",
    "PERP: ORGANIZATION ID": "perp_organization",
    "PHYS TGT: ID": "target",
    "HUM TGT: NAME": "victim",
    "HUM TGT: DESCRIPTION": "victim",
    "PerpInd": "perp_individual",
    "PerpOrg": "perp_organization",
    "Target": "target",
    "Victim": "victim",
    "Weapon": "weapon",
    "incident_type": "incident_type",
}
SINGLE = ("incident_type", "incident_date", "incident_location")
LINE = re.compile(r"\d+\.\s+([A-Z][A-Z: ]*[A-Z])\s{2,}(.*)")
QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"')
MENTIONS = re.compile(rf"\(?{QUOTED.pattern}(?:\s*/\s*{QUOTED.pattern})*")
DAY = re.compile(r"\d{1,2} [A-Z]{3} \d{2}")
Filler = tuple[list[str], bool]
"""The mentions of a filler, and whether it is optional."""


def read_keys(text: str) -> Iterator[tuple[str, str, Filler]]:
    """Yield the message, slot and filler of each line of a key file."""
    message = slot = template = ""
    for line in text.splitlines():
        begun = LINE.match(line)
        slot = begun[1] if begun else slot
        value = (begun[2] if begun else line).strip()
        if slot == "MESSAGE: ID" and begun:
            message = value.partition(" (")[0]
            template = ""
            yield message, "", ([], False)
        elif slot == "MESSAGE: TEMPLATE" and begun:
            template = value
        elif slot in SLOTS and value.strip("? ") not in ("", "-", "*") and not value.startswith(";"):
            mentions, is_optional = read_filler(value)
            yield message, SLOTS[slot], (mentions, is_optional or "OPTIONAL" in template)


def read_filler(value: str) -> Filler:
    """Return a filler as written: `? "GUERRILLAS" / "URBAN GUERRILLAS": "DESCRIPTION"`.

    >>> read_filler('? "THE MEN" / "GUERRILLAS"'), read_filler("BOMBING / ATTACK"), read_filler("- 02 FEB 90")
    ((['THE MEN', 'GUERRILLAS'], True), (['BOMBING', 'ATTACK'], False), (['1990-02-02'], False))
    >>> read_filler('"7 / 24 STORE"/"STORE": "X"'), read_filler("(01 FEB 90 - 03 FEB 90)")
    ((['7 / 24 STORE', 'STORE'], False), (['1990-02-01', '1990-02-03'], False))
    """
    text = value.lstrip("? ")
    if quoted := MENTIONS.match(text):
        return [re.sub(r"\\(.)", r"\1", one) for one in QUOTED.findall(quoted[0])], value.startswith("?")
    mentions = [read_day(day) for day in DAY.findall(text)] or [part.strip() for part in text.split(" / ")]
    return mentions, value.startswith("?")


def read_day(text: str) -> str:
    """Return a day as ISO 8601, or the text of a day that no calendar has."""
    try:
        return datetime.strptime(text.title(), "%d %b %y").date().isoformat()
    except ValueError:
        return text


def read_messages(messages: list[dict[str, object]]) -> Iterator[tuple[str, str, Filler]]:
    """Yield the message, slot and filler of each entity of the JSON, whose mentions are `[text, place]`."""
    for message in messages:
        name = str(message["docid"]).partition(" (")[0]
        yield name, "", ([], False)
        for template in message.get("templates") or [message.get("extracts") or {}]:
            for slot, entities in template.items():
                for entity in [[[entities]]] if isinstance(entities, str) else entities:
                    if slot in SLOTS and entity:
                        yield name, SLOTS[slot], ([mention[0] for mention in entity], False)


def make_records(fillers: Iterator[tuple[str, str, Filler]]) -> Iterator[dict[str, object]]:
    """Yield a record for each message."""
    slots_of: dict[str, dict[str, list[Filler]]] = {}
    for message, slot, (mentions, is_optional) in fillers:
        slots = slots_of.setdefault(message, {})
        earlier = {mention for other, _ in slots.get(slot, []) for mention in other}
        if mentions and earlier.isdisjoint(mentions):
            slots.setdefault(slot, []).append((mentions, is_optional))
    for message, slots in slots_of.items():
        record, accepted = {"id": message}, {}
        for slot, own in slots.items():
            if slot in SINGLE:  # another template may name another one
                record[slot], *others = (mention for mentions, _ in own for mention in mentions)
                accepted |= {slot: others} if others else {}
                continue
            record[slot] = [mentions[0] for mentions, _ in own]
            for at, (mentions, is_optional) in enumerate(own):
                others = [*mentions[1:], *([None] if is_optional else [])]
                accepted |= {f"{slot}[{at}]": others} if others else {}
        yield {**record, **({"acceptable_variations": accepted} if accepted else {})}


def main() -> None:
    """Read the key files, and write gold."""
    if len(sys.argv) < 3:  # one file would be taken for the gold, and be overwritten
        sys.exit(__doc__)
    *keys, gold = map(Path, sys.argv[1:])
    fillers = (
        filler
        for text in (key.read_text("utf-8") for key in keys)
        for filler in (read_messages(json.loads(text)) if text.lstrip().startswith("[") else read_keys(text))
    )
    gold.write_text("".join(json.dumps(record) + "\n" for record in make_records(fillers)), "utf-8")


if __name__ == "__main__":
    main()
