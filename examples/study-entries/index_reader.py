"""Reads entries of an index, one a line: a name, and behind it the pages."""

import re


def extract(document):
    """Return the entries of one page."""
    lines = "\n".join(document["pages"]).splitlines()
    matches = [re.fullmatch(r"(?P<name>\D.*?), (?P<pages>\d[\d, ]*)\.?", line.strip()) for line in lines]
    return {
        "entries": [
            {"name": match["name"], "pages": [int(page) for page in re.findall(r"\d+", match["pages"])]}
            for match in matches
            if match
        ]
    }
