"""The action of this repository: its steps run by bash, as on a runner, on the shipped sample."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fieldassay.commands.cli.main import main
from fieldassay.scoring.score import sample

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = YAML(typ="safe").load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SCRIPTS = [step for step in STEPS if "run" in step]
WORKFLOW: dict[str, Any] = YAML(typ="safe").load(
    (ROOT / "examples" / "ci" / "extraction.yml").read_text(encoding="utf-8")
)

# Stands in for GitHub's command-line program: keeps comments in a file, and answers the three calls that the
# action makes.
GH = """
import json, os, pathlib, shutil, subprocess, sys
store, arguments = pathlib.Path(os.environ["COMMENTS"]), sys.argv[2:]
if os.environ.get("REFUSES") in arguments:
    sys.exit("HTTP 403: Resource not accessible by integration")
comments = json.loads(store.read_text())
if "--jq" in arguments:
    if shutil.which("jq"):
        asked = ["jq", "-r", arguments[arguments.index("--jq") + 1]]
        done = subprocess.run(asked, input=json.dumps(comments), capture_output=True, text=True, check=True)
        print(done.stdout, end="")
    else:
        bots = [one for one in comments if one["user"]["type"] == "Bot"]
        own = [one for one in bots if one["body"].splitlines()[:1] == [os.environ["MARKER"]]]
        print("".join(f"{one['id']}\\n" for one in own), end="")
    sys.exit()
place = arguments[arguments.index("--method") + 2]
body = pathlib.Path(arguments[-1].removeprefix("body=@")).read_text(encoding="utf-8")
if arguments[arguments.index("--method") + 1] == "PATCH":
    next(one for one in comments if str(one["id"]) == place.rsplit("/", 1)[-1])["body"] = body
else:
    assert place == "repos/me/it/issues/7/comments", place
    comments.append({"id": len(comments) + 1, "user": {"type": "Bot"}, "body": body})
store.write_text(json.dumps(comments))
"""


@dataclass
class Ended:
    """The end of the action: exit code of the first failed step, printed text and outputs of the steps."""

    code: int = 0
    logs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass
class Runner:
    """A checkout with the sample in it, and what a runner sets around a step."""

    folder: Path
    environment: dict[str, str]

    @property
    def summary(self) -> str:
        return Path(self.environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")

    @property
    def comments(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(Path(self.environment["COMMENTS"]).read_text())
        return found

    def run(self, **inputs: str) -> Ended:
        """Run every step but the installation, until one fails."""
        ended = Ended()
        for step in SCRIPTS:
            if not step["name"].startswith("Install") and not ended.code:
                self.run_step(step, ended, **inputs)
        return ended

    def comment(self, page: str, **inputs: str) -> Ended:
        """Run the step that comments, with a page as it was written by the steps before."""
        (self.folder / "run").mkdir(exist_ok=True)
        (self.folder / "run" / "comment.md").write_text(page, encoding="utf-8")
        ended = Ended(outputs={"score": {"run": "run"}})
        self.run_step(
            next(step for step in SCRIPTS if step["name"] == "Comment"), ended, comment="true", **inputs
        )
        return ended

    def run_step(self, step: dict[str, Any], ended: Ended, **inputs: str) -> None:
        given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        names = {
            "inputs": given,
            "steps": ended.outputs,
            "github": {"event_name": "pull_request", "event.pull_request.number": "7"},
        }
        if holds(step.get("if", ""), names):
            self._step(step, names, ended)

    def _step(self, step: dict[str, Any], names: Mapping[str, Any], ended: Ended) -> None:
        script, output = self.folder.parent / "step.sh", self.folder.parent / "output"
        script.write_text(step["run"], encoding="utf-8")
        output.write_text("")
        own = {name: evaluate(text, names) for name, text in step.get("env", {}).items()}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        environment = {**self.environment, **own, "GITHUB_OUTPUT": str(output)}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        ended.logs[step["name"]] = done.stdout
        ended.outputs[step.get("id", step["name"])] = read_outputs(output.read_text(encoding="utf-8"))
        ended.code = done.returncode


def evaluate(text: str, names: Mapping[str, Any]) -> str:
    """Return a text with its expressions replaced, which are all plain names."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: look_up(found[1], names), str(text))


def look_up(name: str, names: Mapping[str, Any]) -> str:
    place, _, rest = name.partition(".")
    if place == "steps":
        step, _, output = rest.partition(".outputs.")
        return str(names["steps"].get(step, {}).get(output, ""))
    return str(names[place].get(rest, ""))


def holds(condition: str, names: Mapping[str, Any]) -> bool:
    if not condition:
        return True
    parts = condition.removeprefix("${{ ").removesuffix(" }}").split(" && ")
    compared = [re.fullmatch(r"(\S+) (==|!=) '(.*)'", part) for part in parts]
    return (
        all((look_up(one[1], names) == one[3]) is (one[2] == "==") for one in compared if one is not None)
        and None not in compared
    )


def read_outputs(text: str) -> dict[str, str]:
    found, lines = {}, iter(text.splitlines())
    for line in lines:
        name, sign, mark = re.fullmatch(r"([a-z-]+)(=|<<)(.*)", line).groups()  # type: ignore[union-attr]
        found[name] = mark if sign == "=" else "\n".join(iter(lines.__next__, mark))
    return found


@pytest.fixture
def runner(programs: Path, tmp_path: Path) -> Runner:
    folder, own = tmp_path / "checkout", tmp_path / "bin"
    shutil.copytree(sample().gold.parent, folder)
    own.mkdir()
    (own / "gh").write_text(f"#!{sys.executable}\n{GH}")
    (own / "gh").chmod(0o755)
    (tmp_path / "comments").write_text(
        json.dumps([{"id": 1, "user": {"type": "User"}, "body": "<!-- fieldassay:fieldassay -->\nnot ours"}])
    )
    (tmp_path / "summary").touch()
    environment = {
        "PATH": os.pathsep.join(map(str, (own, programs, os.environ["PATH"]))),
        "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), "GITHUB_WORKSPACE": str(folder),
        "GITHUB_REPOSITORY": "me/it",
        "GITHUB_ACTION_PATH": str(ROOT), "COMMENTS": str(tmp_path / "comments"),
    }  # fmt: skip
    return Runner(folder, environment)


DATA = {"spec": "spec.yaml", "gold": "gold.jsonl", "args": "--pred-key=prediction\n--bootstrap=800\n"}


def test_a_run_that_passes_leaves_a_summary_a_junit_file_and_a_comment(runner: Runner) -> None:
    ended = runner.run(**DATA, pred="\n  atlas.jsonl  \n\n", comment="true")
    assert ended.code == 0, ended.logs
    assert runner.summary.startswith("## GO atlas: sample")
    assert ended.outputs["score"] == {"exit-code": "0", "run": "fieldassay-run"}
    assert json.loads(ended.outputs["report"]["recommendation"])["systems"] == ["atlas"]
    assert ET.parse(runner.folder / ended.outputs["report"]["junit"]).getroot()[0].attrib["failures"] == "0"
    assert [one["body"].split("\n")[:2] for one in runner.comments[1:]] == [
        ["<!-- fieldassay:fieldassay -->", "## GO atlas: sample"]
    ]


def test_a_run_that_fails_fails_the_job_after_everything_was_reported(runner: Runner) -> None:
    ended = runner.run(**DATA, pred="new model=atlas.jsonl\nbirch=birch.jsonl", comment="true")
    assert ended.code == 1 and ended.outputs["score"]["exit-code"] == "1"
    title = "## GO new model · NO-GO birch: sample"
    assert runner.summary.startswith(title)
    assert title in runner.comments[1]["body"] and "| new model |" in runner.comments[1]["body"]
    commands = [line for line in ended.logs["Report"].splitlines() if line.startswith("::")]
    assert len(commands) == 10 and commands[0].startswith("::error title=gate failed")


def test_the_comment_is_updated_and_not_written_again(runner: Runner) -> None:
    first, second = (f"<!-- fieldassay:{name} -->\n" for name in ("fieldassay", "second"))
    for page in (f"{first}one\n", f"{first}two\n", f"{second}three\n", f"{first}four | `x` $(id)\n"):
        assert runner.comment(page).code == 0
    assert [one["body"] for one in runner.comments] == [
        f"{first}not ours",
        f"{first}four | `x` $(id)\n",
        f"{second}three\n",
    ]


@pytest.mark.parametrize("refused", ["--paginate", "--silent"], ids=["reading", "writing"])
def test_a_token_that_may_not_comment_is_a_warning(runner: Runner, refused: str) -> None:
    runner.environment["REFUSES"] = refused
    ended = runner.comment("<!-- fieldassay:fieldassay -->\none\n")
    assert "::warning title=fieldassay::" in ended.logs["Comment"] and len(runner.comments) == 1
    assert ended.code == 0


def test_a_run_that_is_worse_than_its_baseline_fails_and_says_by_how_much(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runner.folder)
    data = (
        "--spec",
        "spec.yaml",
        "--gold",
        "gold.jsonl",
        "--pred",
        "new=atlas.jsonl",
        "--pred-key",
        "prediction",
        "--bootstrap",
        "800",
    )
    assert main(["score", *data, "--out", "old", "--quiet"]) == 0
    assert main(["baseline", "set", "old", "--out", "base.json", "--reason", "first"]) == 0
    held = {"baseline": "base.json", "fail_on_regression": "accuracy=0.01\n"}
    ended = runner.run(**DATA, pred="new=birch.jsonl", comment="true", **held)
    assert ended.code == 1
    change = r"−\d+\.\d\u00a0points \| \d+ \| −\d+\.\d points, 95% interval −\d+\.\d to −\d+\.\d points"
    gate = r"\| ❌ FAIL \| new \| regression\(accuracy\) &gt; -0\.01 \| "
    assert re.search(gate + change, runner.comments[1]["body"])


def test_wrong_input_fails_and_reports_nothing(runner: Runner) -> None:
    ended = runner.run(**DATA, pred="none.jsonl", comment="true")
    assert ended.code == 2
    assert "none.jsonl" in ended.logs["Score"] and runner.summary == "" and len(runner.comments) == 1


def test_the_log_takes_no_command_while_it_can_hold_values_of_documents(runner: Runner) -> None:
    (runner.folder / "evil.jsonl").write_text(
        json.dumps({"id": "inv-001", "prediction": {"supplier_name": "##[add-path]/evil"}}) + "\n"
    )
    log = runner.run(**DATA, pred="##[add-path]x=evil.jsonl").logs["Score"].splitlines()
    opened = next(line for line in log if line.startswith("::stop-commands::"))
    closed = log.index(f"::{opened.removeprefix('::stop-commands::')}::")
    assert log[0] == opened and any("#\\u0023[add-path]" in line for line in log[1:closed])
    assert log[closed + 1 :] == []


EVIL = "$(touch pwned)`touch pwned`'; touch pwned; \"&& touch pwned"


@pytest.mark.parametrize(
    "names",
    [
        ("spec", "gold", "pred", "args", "protocol", "baseline", "fail_on_regression"),
        ("out", "name", "annotations"),
    ],
)
def test_inputs_are_never_run(runner: Runner, names: tuple[str, ...]) -> None:
    ended = runner.run(**{**DATA, "pred": "atlas.jsonl", "comment": "true", **dict.fromkeys(names, EVIL)})
    assert ended.code == (2 if "spec" in names else 0), ended.logs
    assert not (runner.folder / "pwned").exists()


@pytest.mark.parametrize("step", SCRIPTS, ids=lambda step: step["name"])
def test_no_script_holds_an_expression_and_each_is_bash(step: dict[str, Any]) -> None:
    assert "${{" not in step["run"]
    assert step["shell"] == "bash"
    assert subprocess.run(["bash", "-n", "-c", step["run"]], check=False).returncode == 0


def test_every_name_in_an_expression_is_declared() -> None:
    ids = {step["id"] for step in STEPS if "id" in step}
    known = {f"inputs.{name}" for name in ACTION["inputs"]} | {f"steps.{name}.outputs" for name in ids}
    known |= {"github.token", "github.event_name", "github.event.pull_request"}
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = {
        name
        for part in re.findall(r"\$\{\{(.*?)\}\}", text)
        for name in re.findall(r"(?:inputs|steps|github)\.[\w.-]+", part)
    }
    assert {
        name for name in used if not any(name == one or name.startswith(f"{one}.") for one in known)
    } == set()
    assert set(ACTION["inputs"]) == {
        name.removeprefix("inputs.") for name in used if name.startswith("inputs.")
    }


def test_the_options_that_the_action_gives_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    scripts = "".join(step["run"] for step in SCRIPTS if step["name"] in ("Score", "Report"))
    assert main(["score", "--help"]) == main(["report", "--help"]) == 0
    known = capsys.readouterr().out
    assert [
        option
        for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", scripts)))
        if option not in known
    ] == []


def test_the_example_gives_the_action_what_it_takes() -> None:
    steps = WORKFLOW["jobs"]["score"]["steps"]
    used = next(step for step in steps if "fieldassay" in step.get("uses", ""))
    assert set(used["with"]) <= set(ACTION["inputs"])
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= set(used["with"])
    assert WORKFLOW["permissions"] == {"contents": "read", "pull-requests": "write"}
    for step in (*steps, *STEPS):
        assert "uses" not in step or re.search(r"@v\d", step["uses"])
