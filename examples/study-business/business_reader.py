"""Reads business documents whose lines name their fields; the short reader leaves a company's form out."""


def read(document):
    """Return the fields that have a line."""
    lines = (line.partition(": ") for line in "\n".join(document["pages"]).splitlines())
    return {name: value for name, mark, value in lines if mark}


def read_short_names(document):
    """Return the fields that have a line, and suppliers without `Pty Ltd`."""
    fields = read(document)
    return fields | {"SUPPLIER_NAME": fields["SUPPLIER_NAME"].removesuffix(" Pty Ltd")}
