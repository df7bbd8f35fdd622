"""A real browser for the pages of a review."""

from __future__ import annotations

from tests.reports.html.conftest import browser as browser
