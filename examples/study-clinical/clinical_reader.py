"""Reads prescriptions and laboratory reports whose rows are divided by semicolons."""

MEDICATION = ("nombre_medicamento", "dosis", "frecuencia", "duracion", "instrucciones")
TEST = ("nombre_prueba", "valor", "unidad", "rango_referencia", "estado")


def read_prescription(document):
    """Return the medications of a prescription."""
    return {"medications": _read_rows(document, MEDICATION)}


def read_report(document):
    """Return the tests of a laboratory report."""
    return {"results": _read_rows(document, TEST)}


def _read_rows(document, keys):
    rows = (line.split("; ") for line in "\n".join(document["pages"]).splitlines())
    return [dict(zip(keys, row, strict=True)) for row in rows if len(row) == len(keys)]
