"""What cannot be meant is refused by every command: code 2, a sentence that says why, and nothing is written."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import Ran
from scored_runs import linked, scored, stamp

INPUTS = "--spec spec.yaml --gold gold.jsonl --pred llama.jsonl"
SCORE = f"score {INPUTS}"
REFUSED = [
    ("scor", "did you mean 'score'?"),
    ("score", "--gold"),
    ("score --gold g --pred p", "--spec FILE or --protocol NAME"),
    ("score --nonsense", "--nonsense"),
    ("explain", "--type"),
    ("init", "--gold PATH, --schema FILE, or both"),
    (f"{SCORE} --metrics acuracy", "did you mean 'accuracy'?"),
    (f"{SCORE} --engine cloud", "neither local nor ray"),
    (f"{SCORE} --engine ray=", "neither local nor ray"),
    (f"{SCORE} --protocol squad", "not both"),
    (f"{SCORE} --json --format table", "give one of them"),
    (f"{SCORE} --limit 0", "--limit"),
    (
        "score --gold gold.jsonl --pred llama.jsonl --protocol nothing-like-it",
        "unknown protocol 'nothing-like-it'",
    ),
    ("score --spec spec.yaml --gold - --pred -", "Only one of --gold and --pred"),
    (f"{SCORE} --runs a --out b", "give one of them"),
    (f"{SCORE} --run latest", "leave out --pred"),
    ("score --spec spec.yaml --gold gold.jsonl --pred m=llama.jsonl,", "the path is empty"),
    ("score --spec spec.yaml --gold gold.jsonl --pred m=llama.jsonl,llama.jsonl", "a file is given twice"),
    (f"{SCORE} --pred llama=llama.jsonl", "a file is given twice"),
    (f"{SCORE} --pred y/llama.jsonl", "two systems are called 'llama'"),
    (f"{SCORE} --report junt", "did you mean 'junit'?"),
    (f"{SCORE} --report junit", "say where it goes"),
    (f"{SCORE} --report junit=", "say where it goes"),
    (f"{SCORE} --report junit=-", "name a file"),
    (f"{SCORE} --report junit=gold.jsonl", "would overwrite an input"),
    (f"{SCORE} --report junit=no/such/x", "there is no such folder"),
    (f"{SCORE} --report junit=x --report comment=x", "the same file"),
    (f"{SCORE} --open", "--open: say where it goes"),
    (f"{SCORE} --out new --fail-on-regression accuracy", "there is no baseline here"),
    (f"{SCORE} --out new --baseline nowhere.json --fail-on-regression f1", "there is no baseline here"),
    (f"{SCORE} --out new --fail-on-regression acuracy", "did you mean 'accuracy'?"),
    (f"{SCORE} --out new --fail-on-regression accuracy=much", "expected a number"),
    (f"{SCORE} --out new --fail-on-regression accuracy=-0.01", "at least 0"),
    (f"{SCORE} --out new --fail-on-regression accuracy=2", "allow a loss of one point"),
    (f"{SCORE} --out new --fail-on-regression latency_p95=20", "not made of sums"),
    (f"{SCORE} --out new --fail-on-regression presence", "presence"),
    (f"{SCORE} --out new --fail-under accuracy=90", "write 0.9 for 90%"),
    (
        "score --protocol clinical-decision --gold x.jsonl --pred y.jsonl",
        "fieldassay gate RUN --protocol clinical-decision",
    ),
    ("protocols show slot-fillin", "did you mean 'slot-filling'?"),
    ("protocols new slot-fillin", "did you mean 'slot-filling'?"),
    ("runs list --runs nowhere", "is no store of runs"),
    ("explain --type mony 1 2", "did you mean 'money'?"),
    ("explain --type money 1", "two values"),
    ("explain --type money 1 2 --option tolerance", "KEY=VALUE"),
    ("explain --type money 1 2 --option tolerence=1", "did you mean 'tolerance'?"),
    ("explain --type text 1 2 --compare levenstein", "did you mean 'levenshtein'?"),
    ("explain run d1 x y", "a run and a document"),
    ("explain nowhere d1", "is not a run"),
    (f"explain {INPUTS} d11", "did you mean 'd1'?"),
    (f"explain {INPUTS} d1 totl", "did you mean 'total'?"),
    (f"explain {INPUTS} d1 lines[", "did you mean 'lines[]'?"),
    (f"explain {INPUTS} d1 'lines[\"'", "not a path"),
    (f"explain {INPUTS} d1 --system lama", "did you mean 'llama'?"),
    ("export run --what valeus -o x.csv", "did you mean 'values'?"),
    ("export run --what values -o x.md", "use one of: .csv, .xlsx, .parquet"),
    ("export run --what values", "Give -o FILE"),
    ("export run", "Give -o FILE"),
    ("export run --to out.xls", ".csv, .json, .md, .parquet"),
    ("export run --to out", "no ending"),
    ("export run --to missing/out.csv", "cannot be written"),
    ("export run --to run/out.csv", "in its folder"),
    ("report run -o r.json", "fieldassay export"),
    ("report run -o r.json", ".html"),
    ("report run --out x.json", "--format"),
    ("report run --format junit --against run", "--against goes with one RUN"),
    ("report run --format junt", "junt"),
    ("report nowhere --format junit", "nowhere"),
    ("report run run --format junit", "given twice"),
    ("report run --format junit --out gold.jsonl", "is an input or a part of a run"),
    ("report run --format junit --out run/metrics.json", "is an input or a part of a run"),
    ("report run --format junit --out run", "is a folder"),
    ("report run --format junit --out no/such/folder/x", "cannot be written"),
    ("report run --open --format junit", "--open shows the HTML report"),
    ("report run --open -o r.md", "--open shows the HTML report"),
    ("report run run --open", "say where the report goes"),
    ("report run --format html --against ./run", "is the run itself; name an earlier one"),
    ("diff", "RUN"),
    ("diff nowhere elsewhere", "no store of runs"),
    ("diff run other --out x.doc", "the ending names no format"),
    ("diff run other --out no/such/folder/x.md", "cannot be written"),
    ("diff run", "has one system"),
    ("diff run other --format pdf", "pdf"),
    ("diff run other --metrics zzz", "zzz"),
    ("diff run other --level 1", "--level"),
    ("diff run other --json --format csv", "give one of them"),
    ("gate run", "has no gates"),
    ("gate run run", "is given twice"),
    ("gate nowhere", "is not a run"),
    ("gate run --gates a.yaml --protocol clinical-decision", "not both"),
    ("gate run --protocol clinical", "clinical-decision"),
    ("gate run --gates nowhere.yaml", "cannot be read"),
    ("gate run --protocol clinical-decision --records nowhere.yaml", "cannot be read"),
    ("calibrate --values 4", "go with --plan"),
    ("calibrate --plan run --accuracy 0.9", "those of RUN"),
    ("calibrate --plan --accuracy 95", "0<x<1"),
    ("calibrate --plan --promise document --per-field", "accepted as a whole"),
    ("calibrate run --apply p.json --promise residual", "leave out --promise"),
    ("calibrate", "Give a RUN"),
    ("calibrate --plan --risk 2", "between 1e-06 and 1"),
    ("calibrate --plan --risk 1e-12", "between 1e-06 and 1"),
    ("calibrate --plan --risk nan", "between 1e-06 and 1"),
    ("calibrate --plan --confidence 95", "0.05"),
    ("calibrate --plan run --out p.json", "leave out"),
    ("calibrate run --apply p.json --risk 0.1", "leave out --risk"),
    ("calibrate run --scale odds", "odds"),
    ("calibrate nowhere", "not a run"),
    ("review log .", "is not a review"),
    ("review verify .", "is not a review"),
    ("review new review --from-run x", "--from-run and --suspicious go together"),
    ("review new review --spec spec.yaml --mode audit --double 2", "is no share"),
    ("review new review", "Give either --spec FILE or --protocol NAME"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the small data set and two runs of it."""
    made = linked(scored(), tmp_path_factory.mktemp("refused") / "data")
    shutil.copytree(made / "run", made / "other")
    return made


@pytest.mark.parametrize(("command", "said"), REFUSED, ids=[command for command, _ in REFUSED])
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    run: Callable[..., Ran], place: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.chdir(place)
    before = stamp(place)
    ran = run(*shlex.split(command))
    assert (ran.code, ran.out, stamp(place)) == (2, "", before)
    assert said in ran.err and "Traceback" not in ran.err and "internal error" not in ran.err
