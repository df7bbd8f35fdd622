"""The browser of the person at this machine."""

import subprocess

from fieldassay.io.workers.program import clean_environment, python_command

_BROWSE = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_browser(address: str) -> bool:
    """Open an address in a browser that lies in an absolute folder of PATH; return whether there is one."""
    process = subprocess.run(python_command("-c", _BROWSE, address), env=clean_environment(), check=False)
    return process.returncode == 0
