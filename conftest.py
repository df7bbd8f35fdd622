"""No test reads or writes the embedding cache of who runs it."""

import os

os.environ["FIELDASSAY_CACHE"] = "off"
