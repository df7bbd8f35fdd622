"""Transcripts on disk: one compressed JSON document per file, found by the file's digest and loader."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.transcript import Transcript
from fieldassay.io.files.whole_files import open_file, write_file

MOST_BYTES = 1 << 30
"""The largest transcript that is read."""


def encode(transcript: Transcript) -> bytes:
    """Return a transcript as JSON."""
    import msgspec

    return msgspec.json.encode(transcript)


def decode(data: bytes) -> Transcript:
    """Return the transcript of a JSON text, its types checked. Raises ValueError."""
    import msgspec

    return msgspec.json.decode(data, type=Transcript)


class TranscriptStore(Struct, frozen=True):
    """A folder of transcripts: `<digest of the document>.json.zst`."""

    folder: Path

    def path(self, sha256: str) -> Path:
        """Return the file of the transcript of a document."""
        return self.folder / f"{sha256}.json.zst"

    def read(self, sha256: str) -> Transcript:
        """Return a document's transcript. Raises OSError if there is none, ValueError if it is damaged."""
        import zstandard

        with open_file(self.path(sha256)) as stream:
            data = stream.read(MOST_BYTES)
        try:
            return decode(zstandard.ZstdDecompressor().decompress(data, max_output_size=MOST_BYTES))
        except zstandard.ZstdError as error:
            raise ValueError(f"is not compressed by zstd ({error})") from None

    def find(self, sha256: str, loader: Mapping[str, Any], name: str) -> Transcript | None:
        """Return the transcript of a document under a name if this very loader made it, else None.

        A damaged file counts as none: the document is then loaded again.
        """
        try:
            held = self.read(sha256)
        except (OSError, ValueError):
            return None
        return replace(held, id=name) if held.sha256 == sha256 and held.loader == loader else None

    def write(self, transcript: Transcript) -> None:
        """Write a transcript over that of another loader. Raises OSError; the file is then unchanged."""
        import zstandard

        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path(transcript.sha256), [zstandard.ZstdCompressor().compress(encode(transcript))])
