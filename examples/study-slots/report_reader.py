"""Reads the lines of incident reports; the careful reader leaves out what says that there is none."""

SINGLE = {"Type": "incident_type", "Date": "incident_date", "Place": "incident_location"}
LISTS = {
    "Perpetrators": "perp_individual",
    "Organization": "perp_organization",
    "Target": "target",
    "Victims": "victim",
    "Weapons": "weapon",
}


def read(document):
    """Return the slots that have a line."""
    lines = (line.partition(": ") for line in "\n".join(document["pages"]).splitlines())
    values = {label: value for label, mark, value in lines if mark}
    single = {slot: values.get(label) for label, slot in SINGLE.items()}
    lists = {slot: values[label].split("; ") if label in values else [] for label, slot in LISTS.items()}
    return single | lists


def read_with_care(document):
    """Return the slots that have a line, but for fillers such as `none was seen`."""
    return {
        slot: [one for one in value if not one.startswith("none")] if isinstance(value, list) else value
        for slot, value in read(document).items()
    }
