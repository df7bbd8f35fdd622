"""Gold and predictions in object storage, read from a real server of it on this machine."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fieldassay.errors import MissingExtraError, ProblemsError
from fieldassay.records.keys import SourceOptions
from fieldassay.records.source import open_source
from fieldassay.scoring.provenance import digest_input
from fieldassay.scoring.score import score

SPEC = "fields: {total: number}"
GOLD = [{"id": f"d{at}", "total": at} for at in range(500)]
PRED = [{"id": f"d{at}", "total": at + (at % 10 == 0)} for at in range(500)]
IS_INSTALLED = all(importlib.util.find_spec(name) for name in ("s3fs", "moto", "flask"))
needs_s3 = pytest.mark.skipif(not IS_INSTALLED, reason="without s3fs and moto: `make test-s3` installs them")


@pytest.fixture(scope="module")
def bucket() -> Iterator[Callable[[str, bytes], str]]:
    """Start a server of object storage; return a function that puts bytes under a key and returns the URL."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        import s3fs

        storage = s3fs.S3FileSystem(use_listings_cache=False)
        storage.mkdir("data")

        def put(key: str, data: bytes) -> str:
            storage.pipe_file(f"data/{key}", data)
            return f"s3://data/{key}"

        yield put
    server.stop()


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    import io

    import polars as pl

    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file)
    return file.getvalue()


def packed(rows: list[dict[str, Any]]) -> bytes:
    import gzip

    return gzip.compress(lines(rows))


FORMS = [
    pytest.param("jsonl", lines, id="JSON lines"),
    pytest.param("jsonl.gz", packed, id="packed JSON lines"),
    pytest.param("parquet", parquet, id="Parquet"),
    pytest.param("json", lambda rows: json.dumps(rows).encode(), id="a JSON array"),
]


@needs_s3
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("ending", "write"), FORMS)
def test_objects_are_scored_as_files_are(
    bucket: Any, tmp_path: Path, ending: str, write: Callable[[Any], bytes], workers: int
) -> None:
    places, urls = [], []
    for name, rows in (("gold", GOLD), ("pred", PRED)):
        (tmp_path / f"{name}.{ending}").write_bytes(write(rows))
        places.append(str(tmp_path / f"{name}.{ending}"))
        urls.append(bucket(f"files/{name}.{ending}", write(rows)))
    options = {"bootstrap": 50, "workers": workers}
    here, there = (score(gold, {"m": pred}, SPEC, **options) for gold, pred in (places, urls))
    assert there.estimates == here.estimates
    assert there.documents.equals(here.documents) and there.evidence.equals(here.evidence)
    assert [digest_input(url) for url in urls] == [digest_input(place) for place in places]


@needs_s3
@pytest.mark.slow
def test_objects_below_a_url_are_a_folder(bucket: Any, tmp_path: Path) -> None:
    for row in GOLD[:60]:
        for folder, spoilt in (("gold", 0), ("pred", 1)):
            data = json.dumps({"total": row["total"] + spoilt}).encode()
            file = tmp_path / folder / "a" / f"{row['id']}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            bucket(f"folders/{folder}/a/{row['id']}.json", data)
    bucket("folders/gold/.hidden.json", b"{")
    options = SourceOptions(is_gold=True)
    here, there = open_source(tmp_path / "gold", options), open_source("s3://data/folders/gold", options)
    assert there.ids == here.ids and there.place(0) == "s3://data/folders/gold/a/d0.json"
    assert [one.data for one in there.fetch(range(60))] == [one.data for one in here.fetch(range(60))]
    results = [
        score(f"{root}/gold", {"m": f"{root}/pred/"}, SPEC, bootstrap=0)
        for root in (tmp_path, "s3://data/folders")
    ]
    assert results[0].estimates == results[1].estimates
    assert digest_input("s3://data/folders/pred") == digest_input(str(tmp_path / "pred"))


@needs_s3
@pytest.mark.slow
def test_a_machine_without_the_copy_reads_the_object_itself(bucket: Any) -> None:
    source = open_source(bucket("files/far.jsonl", lines(GOLD)))
    assert source.fetch([7])[0].data == {"total": 7}
    source.rows.path.unlink()
    assert source.fetch([7, 3])[1].data == {"total": 3}


@needs_s3
@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        pytest.param("s3://data/nothing.jsonl", id="no such object"),
        pytest.param("s3://other/gold.jsonl", id="no such bucket"),
    ],
)
def test_what_is_not_there_is_said(bucket: Any, url: str) -> None:
    with pytest.raises(ProblemsError) as raised:
        open_source(url)
    (problem,) = raised.value.problems
    assert problem.where == url and problem.what.startswith("cannot be read (")
    assert "AWS_ENDPOINT_URL" in problem.remedy


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/gold.jsonl", "gs://data/gold.jsonl", "file:///etc/passwd"]
)
def test_other_kinds_of_urls_are_refused(url: str) -> None:
    with pytest.raises(ProblemsError, match="is a URL of the kind") as raised:
        open_source(url)
    assert "s3://" in raised.value.problems[0].remedy


def test_without_the_extra_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "s3fs", None)
    with pytest.raises(MissingExtraError, match=r"s3://data/gold.jsonl: .*pip install '\.\[s3\]'"):
        open_source("s3://data/gold.jsonl")
