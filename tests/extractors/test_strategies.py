"""Claims that hold for every strategy."""

import subprocess
import sys

HEAVY = ("httpx2", "pypdfium2", "numpy", "scipy", "jinja2")


def test_importing_strategies_loads_nothing_heavy():
    code = (
        "import sys, importlib, pkgutil, fieldassay.extractors as e\n"
        "for m in pkgutil.walk_packages(e.__path__, 'fieldassay.extractors.'): importlib.import_module(m.name)\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
