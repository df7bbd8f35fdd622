"""Nothing that a stranger left in the current folder or its repository is run."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fieldassay.runs.files import describe_git

SRC = Path(__file__).parent.parent / "src" / "fieldassay"

STARTS = {
    ("extraction/endpoints/command.py", "__init__", "subprocess.Popen"),
    ("io/workers/program.py", "__init__", "subprocess.Popen"),
    ("runs/files.py", "_git", "subprocess.run"),
    ("io/browser.py", "open_browser", "subprocess.run"),
}
"""Reviewed: which function starts a program, and by what."""

STARTERS = {"subprocess", "Popen", "pty", "multiprocessing", "ProcessPoolExecutor", "webbrowser"}
HARMLESS = {"subprocess.DEVNULL", "subprocess.PIPE", "subprocess.STDOUT", "subprocess.TimeoutExpired"}
HARMLESS |= {"subprocess.SubprocessError", "subprocess._args_from_interpreter_flags"}


def starts(tree: ast.AST, function: str = "") -> Iterator[tuple[str, str]]:
    """Yield the functions and names by which a module may start programs."""
    for node in ast.iter_child_nodes(tree):
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        name = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if {node.module, alias.name} & STARTERS or is_os_start(f"{node.module}.{alias.name}"):
                    yield inside, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Attribute) and (is_os_start(name) or {*name.split(".")} & STARTERS):
            if name not in HARMLESS:
                yield inside, name
            continue
        yield from starts(node, inside)


def is_os_start(name: str) -> bool:
    module, _, function = name.partition(".")
    return module in ("os", "posix", "asyncio") and function.startswith(
        ("exec", "spawn", "posix_spawn", "system", "popen", "startfile", "fork", "create_subprocess")
    )


def test_programs_are_started_at_the_reviewed_places_alone() -> None:
    found = {
        (str(path.relative_to(SRC)), function, name)
        for path in sorted(SRC.rglob("*.py"))
        for function, name in starts(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == STARTS


@pytest.mark.parametrize(
    "code",
    [
        "import subprocess\ndef f(): subprocess.check_output(['ls'])",
        "import subprocess as s\nfrom subprocess import run",
        "import os\nos.execvp('ls', [])",
        "from os import system",
        "import asyncio\nasync def f(): await asyncio.create_subprocess_exec('ls')",
        "from concurrent.futures import ProcessPoolExecutor",
        "from multiprocessing import Pool",
    ],
)
def test_the_walk_sees_every_way_to_start_a_program(code: str) -> None:
    assert list(starts(ast.parse(code)))


@pytest.mark.parametrize("path", sorted({path for path, _, _ in STARTS}))
def test_a_started_python_or_program_takes_nothing_from_the_current_folder(path: str) -> None:
    text = (SRC / path).read_text(encoding="utf-8")
    assert "python_command(" in text or "find_program(" in text or '"-I", "-S"' in text


# git


def git(*arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


Trap = Callable[[str], None]


def by_filter(kind: str, name: str = "x", attributes: str = ".git/info/attributes") -> Trap:
    def set_up(command: str) -> None:
        Path(attributes).write_text(f"* filter={name}\n")
        git("config", f"filter.{name}.{kind}", command)
        git("config", f"filter.{name}.required", "true")

    return set_up


def by_setting(name: str, value: str = "{}") -> Trap:
    return lambda command: git("config", name, value.format(command)) and None


def by_include(command: str) -> None:
    Path("more").write_text(f'[filter "x"]\n\tclean = {command}\n')
    git("config", "include.path", "../more")
    Path(".git/info/attributes").write_text("* filter=x\n")


def by_hook(command: str) -> None:
    hook = Path(".git/hooks/post-index-change")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{command}\n")
    hook.chmod(0o755)


def by_missing_object(command: str) -> None:
    """Make the tree of HEAD one that git would fetch, by a program that the settings name."""
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.partialClone", "origin")
    git("config", "remote.origin.url", str(Path().resolve()))
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.uploadpack", command)
    tree = git("rev-parse", "HEAD^{tree}")
    (Path(".git/objects") / tree[:2] / tree[2:]).unlink()


TRAPS = {
    "clean filter": by_filter("clean"),
    "process filter": by_filter("process"),
    "clean filter by the tree": by_filter("clean", attributes=".gitattributes"),
    "name with an equals sign": by_filter("clean", "a=b"),
    "name with a blank and a dot": by_filter("clean", "a.b"),
    "included settings": by_include,
    "watcher of files": by_setting("core.fsmonitor"),
    "hook": by_hook,
    "fetch of a missing object": by_missing_object,
    "pager": by_setting("core.pager"),
    "alias": by_setting("alias.status", "!{}"),
    "difference": by_setting("diff.external"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_git_starts_nothing_that_a_repository_names(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    git("init", "-q")
    Path("gold.jsonl").write_text("1\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    commit = git("rev-parse", "HEAD")
    program, mark = tmp_path / "trap", tmp_path / "started"
    program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    program.chmod(0o755)
    TRAPS[trap](str(program))
    os.utime("gold.jsonl", (0, 0))
    described = describe_git(work)
    assert not mark.exists()
    assert described["commit"] == commit
    if trap in ("clean filter", "fetch of a missing object"):  # the trap is one: git itself falls into it
        subprocess.run(["git", "status", "--porcelain"], check=False, capture_output=True)
        assert mark.exists()


@pytest.mark.parametrize(("content", "is_dirty"), [("1\n", False), ("2\n", None)])
def test_whether_files_differ_is_unknown_where_a_filter_would_have_to_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, is_dirty: bool | None
) -> None:
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    Path("a").write_text("1\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    git("config", "filter.x.clean", "cat")
    Path("a").write_text(content)
    os.utime("a", (0, 0))
    described = describe_git(tmp_path)
    assert described["is_dirty"] is is_dirty


# Python

SHADOWS = (
    "fieldassay.py",
    "json.py",
    "pickle.py",
    "decimal.py",
    "msgspec.py",
    "numpy.py",
    "sitecustomize.py",
    "os.py",
    "re.py",
    "sh",
    "www-browser",
)

CHILDREN = {
    "worker": "from fieldassay.io.workers.program import Worker\n"
    "import fieldassay.io.text.shown as shown\n"
    "w = Worker(); print(w.call(shown.clip, 'ab', 5)); w.stop()",
    "browser": "from fieldassay.io.browser import open_browser\n"
    "os.environ['PATH'] = os.environ['PATH'].replace('/usr/bin:/bin', '/nowhere')\n"
    "print('ab', open_browser('about:blank'))",
    "command": "from fieldassay.extraction.endpoints.command import CommandWorker\n"
    "w = CommandWorker(['sh', '-c', 'read x; echo 1 >&3; cat']); print('ab', w.ask(b'1', 30)); w.kill()",
}


@pytest.mark.slow
@pytest.mark.parametrize("search", ["", ":", ".:"], ids=["plain", "empty entry", "relative entry"])
@pytest.mark.parametrize("child", CHILDREN)
def test_a_started_python_imports_nothing_from_the_current_folder(
    child: str, search: str, tmp_path: Path
) -> None:
    for name in SHADOWS:
        (tmp_path / name).write_text(
            f"#!{sys.executable} -I\nimport os; os.open({str(tmp_path / 'IMPORTED')!r}, os.O_CREAT)\n"
        )
        (tmp_path / name).chmod(0o755)
    # the caller itself must not import what lies there: it has all that it needs from its own path
    code = f"import os, sys; sys.path[:] = {[str(SRC.parent), *filter(None, sys.path)]!r}\n"
    code += (
        f"os.environ['PYTHONPATH'] = {search!r} + {str(SRC.parent)!r}; os.environ['PATH'] = {search!r} + '/usr/bin:/bin'\n"
        + CHILDREN[child]
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("ab"), done.stderr
    assert not (tmp_path / "IMPORTED").exists()
