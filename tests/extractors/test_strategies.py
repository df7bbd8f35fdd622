"""Claims that hold for every strategy."""

import subprocess
import sys

DRIVING = ("extract", "predictions", "systems")
"""Modules that drive strategies: they load documents and write folders."""

HEAVY = ("httpx2", "pypdfium2", "numpy", "scipy", "jinja2")


def test_importing_strategies_loads_nothing_heavy():
    code = (
        "import sys, importlib, pkgutil, fieldassay.extractors as e\n"
        "names = [m.name for m in pkgutil.walk_packages(e.__path__, 'fieldassay.extractors.')]\n"
        f"names = [n for n in names if n.split('.')[-1] not in {DRIVING!r}]\n"
        "[importlib.import_module(n) for n in names]\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
