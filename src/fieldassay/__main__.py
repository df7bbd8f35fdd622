"""`python -m fieldassay`, which looks for no module in the current folder."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    from fieldassay.commands.cli.main import run_program

    sys.exit(run_program())
