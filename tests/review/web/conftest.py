"""Documents for sheets that a browser opens."""

import pytest


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "doc-001.txt").write_text("Shop 1 Pty Ltd\n\nDate 03/04/2025\nTotal 11.50\n")
    return folder
