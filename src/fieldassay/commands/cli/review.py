"""The command `review`, with agreement, exchange and promotion."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import (
    GroupedCommand,
    GroupedCommands,
    json_option,
    option,
    record_option,
)
from fieldassay.commands.cli.inputs import (
    keep_interruptible,
    name_predictions,
    read_plan_option,
    read_spec_option,
    spec_options,
)
from fieldassay.commands.cli.output import complain, screen, tell, write
from fieldassay.commands.cli.report import find_stored, lookup_option
from fieldassay.commands.cli.thresholds import default_baseline
from fieldassay.io.text.shown import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fieldassay.records.labels_file import Sheet
    from fieldassay.review.log import Store
    from fieldassay.review.sheets.make import NewReview, Shares


# `fieldassay review agreement`.


@click.command(cls=GroupedCommand)
@spec_options
@click.option(
    "-l",
    "--labels",
    "labels",
    metavar="PATH",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="A labels file, or the records of one reviewer; repeat for more.",
)
@json_option
def agreement(**params: Any) -> int:
    """Measure how often reviewers of the same documents agree.

    Two answers agree if either is right with the other as gold. Only labels that were made without seeing a
    prediction count.

    \b
    fieldassay review agreement --spec spec.yaml --labels ada.jsonl --labels bob.jsonl
    """
    from fieldassay.commands.runs import agreement as measure
    from fieldassay.reports.content.agreement import render_agreement

    spec = read_spec_option(params)
    keep_interruptible()
    agreement = measure([str(path) for path in params["labels"]], spec)
    tell(agreement.to_dict, lambda: render_agreement(agreement, screen()), is_json=params["is_json"])
    return 0


# `fieldassay review export`.

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("folder", metavar="DIR", type=_PATH)
@click.option(
    "-o", "--out", "target", metavar="FILE", required=True, type=_PATH,
    help="The labels file.",
)  # fmt: skip
@click.option(
    "--settled",
    "is_settled",
    is_flag=True,
    help="One sheet per document: what reviewers agree on, or the ruling.",
)
def export(folder: Path, target: Path, *, is_settled: bool) -> int:
    """Write the labels of the finished sheets of a review.

    \b
    fieldassay review export invoices-1 -o labels.jsonl
    """
    from fieldassay.io.files.whole_files import write_whole
    from fieldassay.records.labels_file import labels_lines
    from fieldassay.review.export import finished_sheets, settled_sheets
    from fieldassay.review.log import Store

    store = Store(folder)
    sheets: Sequence[Sheet] = settled_sheets(store) if is_settled else finished_sheets(store)
    write_whole(target, labels_lines(sheets))
    labels = format_count(sum(len(sheet.labels) for sheet in sheets), "label")
    write(f"{target}: {format_count(len(sheets), 'sheet')} with {labels}\n")
    if not sheets:
        what = "no document is settled" if is_settled else "no sheet is finished"
        complain(f"{what}: label with `fieldassay review open {folder}`")
    return 0


# `fieldassay review promote`.


@click.command(cls=GroupedCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=_PATH)
@click.option(
    "-l",
    "--labels",
    metavar="FILE",
    type=_PATH,
    multiple=True,
    help="A labels file instead of a review; repeat for more.",
)
@click.option(
    "-g",
    "--gold",
    metavar="PATH",
    type=_PATH,
    required=True,
    help="The gold to write: JSON lines, JSON, a folder of JSON, or CSV.",
)
@spec_options
@click.option("--add", "is_adding", is_flag=True, help="Add documents that gold lacks.")
@click.option(
    "--unreadable", "takes_unreadable", is_flag=True, help="Also take labels that the spec cannot read."
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Print what would change; write nothing.")
@json_option
def promote(**params: Any) -> int:
    """Write reviewed values into gold.

    Takes the finished sheets and rulings of the review in DIR, or labels files.

    If gold has changed since, two sheets differ, or gold has no place for a value, it lists the problems and
    writes nothing. Values that nobody was asked about become unreviewed, and `score` leaves them out. The old
    gold stays as `gold.jsonl.before`.

    \b
    fieldassay review promote invoices-1 --gold gold.jsonl
    fieldassay review promote --labels agreed.jsonl --gold gold.csv --spec spec.yaml
    """  # fmt: skip
    from fieldassay.records.labels_file import read_labels
    from fieldassay.review.log import Store
    from fieldassay.review.promote import PromoteOptions, promote_review, render_promotion
    from fieldassay.review.promote import promote as apply

    if (params["folder"] is None) == (not params["labels"]):
        raise click.UsageError("Give the folder of a review, or --labels.")
    has_spec = params["spec"] is not None or params["protocol"] is not None
    plan = read_plan_option(params) if has_spec else None
    options = PromoteOptions(
        plan,
        adds_documents=params["is_adding"],
        takes_unreadable=params["takes_unreadable"],
        is_dry=params["is_dry"],
    )
    if params["folder"] is None:
        waiting: tuple[str, ...] = ()
        promotion = apply(
            params["gold"], [sheet for path in params["labels"] for sheet in read_labels(path)], options
        )
        if not options.is_dry and promotion.files:
            promotion.write()
    else:
        promotion, waiting = promote_review(Store(params["folder"]), params["gold"], options)
    tell(
        lambda: {**promotion.to_dict(), "is_dry_run": options.is_dry, "waiting": waiting},
        lambda: render_promotion(promotion, options, waiting, default_baseline()),
        is_json=params["is_json"],
    )
    return 0


# `fieldassay review`: people make and correct gold.

_MOVED = click.option(
    "--documents",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where the documents are now, if they moved.",
)
_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


def _share(flag: str, name: str, text: str) -> Callable[[Any], Any]:
    place = "fieldassay.review.sheets.make:Shares"
    return record_option(place, name, flag, group="Work", metavar="SHARE", help=text)


@click.group(cls=GroupedCommands)
def review() -> None:
    """Let people make gold and check systems.

    DIR is the folder of a review.

    \b
    fieldassay review new invoices-1 --spec spec.yaml --pred llama=llama.jsonl --documents scans
    fieldassay review open invoices-1
    fieldassay review promote invoices-1 --gold gold.jsonl
    """


@review.command(cls=GroupedCommand)
@_FOLDER
@spec_options
@option(
    "-p",
    "--pred",
    "preds",
    group="Inputs",
    metavar="[NAME=]PATH",
    multiple=True,
    help="The predictions of one system or variant, m/raw=PATH. Without them every field is asked.",
)
@option(
    "-g",
    "--gold",
    group="Inputs",
    metavar="PATH",
    help="Trusted gold of some documents, to measure missed errors.",
)
@option(
    "--documents",
    group="Inputs",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True),
    help="The documents, named by id.",
)
@option(
    "--policy",
    group="Work",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Ask only what this policy of `calibrate` sends to review.",
)
@option(
    "--suspicious",
    group="Inputs",
    metavar="RUN",
    help="Review this run's gold where most systems contradict it.",
)
@option(
    "--mode",
    group="Work",
    type=click.Choice(["gold", "audit"]),
    help="gold asks every field and shows predictions; audit asks a sample and hides some.  "
    "[default: gold; audit with --policy]",
)
@_share("--double", "double", "Audit: the share of documents that two people label.  [default: 0.1]")
@_share("--withhold", "withheld", "Audit: the share of values whose prediction is hidden.  [default: 0.1]")
@_share("--empty", "empty", "Audit: the share of empty fields to ask about.  [default: 0.05]")
@_share("--audited", "audited", "With --policy: the share of accepted values to ask about.  [default: 0.03]")
@lookup_option
def new(folder: Path, **params: Any) -> int:
    """Make a review of the predictions of one system, for gold or for an audit.

    The questions are fixed from then on.

    \b
    fieldassay review new invoices-1 --spec spec.yaml --pred llama=llama.jsonl --documents scans
    fieldassay review new invoices-2 --policy policy.json --pred new.jsonl --documents scans --gold gold.jsonl
    fieldassay review new gold-1 --suspicious runs/a --documents scans
    """

    review = _make(folder, params)
    for note in review.notes:
        complain(note)
    write(
        f"{folder}: {format_count(review.documents, 'document')}, {format_count(review.sheets, 'sheet')}, "
        f"{format_count(review.values, 'value')} asked\n"
        f"label them with: fieldassay review open {folder}\n"
    )
    return 0


def _make(folder: Path, params: dict[str, Any]) -> NewReview:
    """Return the review that the options describe; raise UsageError for invalid combinations."""
    from fieldassay.decisions.calibration.policy import read_policy
    from fieldassay.review.sheets.make import ReviewRequest, make_review, make_suspicious_review
    from fieldassay.runs.run import Run

    shares = _shares(params)
    if params["suspicious"] is not None:
        if params["preds"] or params["policy"] or params["gold"] or params["spec"] or params["protocol"]:
            raise click.UsageError("--suspicious takes spec, gold and predictions from the run.")
        run = Run.open(find_stored(params["suspicious"], params["store"]))
        return make_suspicious_review(
            folder, run, ReviewRequest(documents=params["documents"], shares=shares)
        )
    policy = None if params["policy"] is None else read_policy(params["policy"])
    needs_spec = policy is None or params["spec"] or params["protocol"]
    keep_interruptible()
    names = name_predictions(params["preds"])
    if policy is not None and len(names) == 1 and "=" not in params["preds"][0]:
        names = {policy.system: next(iter(names.values()))}
    spec = read_spec_option(params) if needs_spec else None
    return make_review(
        folder, ReviewRequest(spec, names, policy, params["gold"], params["documents"], shares)
    )


def _shares(params: dict[str, Any]) -> Shares:
    """Return the shares of the mode; raise UsageError for those of an audit in another one."""
    from msgspec.structs import replace

    from fieldassay.review.sheets.make import GOLD, Shares

    mode = params["mode"] or ("gold" if params["policy"] is None else "audit")
    audit = {
        name: params[name] for name in ("double", "withheld", "empty", "audited") if params[name] is not None
    }
    if mode == "gold" and params["policy"] is not None:
        raise click.UsageError("--policy asks for a part of the values: it goes with --mode audit.")
    if mode == "gold" and audit:
        option = {"withheld": "withhold"}.get(name := next(iter(audit)), name)
        raise click.UsageError(
            f"--{option} goes with --mode audit: making gold asks every field once, and hides nothing."
        )
    return replace(GOLD if mode == "gold" else Shares(), **audit)


@review.command("open")
@_FOLDER
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=0, help="The port.  [default: a free one]"
)
@_MOVED
def open_review(folder: Path, port: int, documents: Path | None, *, no_browser: bool) -> int:
    """Label the values of a review in the browser, alone, on this machine.

    The link works once, within a minute. Ctrl-C ends the server.
    """
    from fieldassay.review.log import Store

    def tell(link: str) -> None:
        write(f"open this link within a minute: {link}\nCtrl-C ends the server; every label is saved\n")

    _load_server().open_alone(
        Store(folder), tell, opens_browser=not no_browser, port=port, documents=documents
    )
    return 0


def _load_server() -> ModuleType:
    """Return the server of a review. Raises `MissingExtraError` without the packages that it stands on."""
    from fieldassay.review.web import guard

    try:
        from fieldassay.review.web import serve
    except ImportError:
        raise guard.missing_extra() from None
    return serve


_ACTIONS = ("list", "add", "passwd", "role", "disable", "enable")


@review.command()
@_FOLDER
@click.argument("action", metavar="[ACTION", required=False, type=click.Choice(_ACTIONS))
@click.argument("person", metavar="[NAME]]", required=False)
@click.option(
    "--role",
    type=click.Choice(["reviewer", "adjudicator", "lead", "observer"]),
    help="The role, with add and role.  [default: reviewer]",
)
@click.option(
    "--password-stdin",
    "is_piped",
    is_flag=True,
    help="Read the password from standard input.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port.  [default: a free one]",
)
@click.option("--behind", metavar="URL", help="The address of a proxy that ends TLS.")
@_MOVED
def team(folder: Path, action: str | None, person: str | None, **params: Any) -> int:
    """Serve a review to a team with accounts, or change its accounts.

    ACTION is list, add, passwd, role, disable or enable; without it the review is served. Logs and exports
    hold aliases, never names.

    \b
    fieldassay review team invoices-1 add anna --role reviewer
    fieldassay review team invoices-1 --port 8000 --behind https://review.example
    """
    from fieldassay.review.log import Store

    role, is_piped, documents = params.pop("role"), params.pop("is_piped"), params.pop("documents")
    if action is not None:
        _change_team(Store(folder), action, person, role, is_piped=is_piped)
        return 0

    def tell(address: str) -> None:
        write(f"serving at {address}\nCtrl-C ends the server; every label is saved\n")

    server = _load_server()
    server.serve_team(Store(folder), server.Address(**params), tell, documents)
    return 0


def _change_team(store: Store, action: str, name: str | None, role: str | None, *, is_piped: bool) -> None:
    """List the accounts of a review, or change one of them."""
    from fieldassay.review.web.guard import add_person, change_person, list_people, set_password

    if action == "list":
        with store.reading() as db:
            for account in list_people(db):
                disabled = "  disabled" if account["disabled"] else ""
                who = f"{account['alias']:<5} {account['name'] or '-':<20} {account['role']:<12}"
                write(f"{who} {format_count(account['sheets'], 'sheet')}{disabled}\n")
        return
    if name is None:
        raise click.UsageError(f"{action} needs a NAME.")
    if action == "role" and role is None:
        raise click.UsageError("role needs --role.")
    if action == "add":
        password = _read_password(is_piped)
        person = store.write(lambda log: add_person(log, name, role or "reviewer", password))
        write(f"{name} is {person.alias}, {person.role}\n")
    elif action == "passwd":
        password = _read_password(is_piped)
        store.write(lambda log: set_password(log, name, password))
    else:
        store.write(lambda log: change_person(log, name, role=role, is_disabled=action == "disable"))


def _read_password(is_piped: bool) -> str:

    if is_piped:
        return sys.stdin.readline().rstrip("\r\n")
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


@review.command()
@_FOLDER
@click.option(
    "--close",
    "closes",
    is_flag=True,
    help="Close the review for good; all audits must be done.",
)
@click.option(
    "--yes", "gives_up_open", is_flag=True, help="With --close: give up sheets that are not finished."
)
@json_option
def status(folder: Path, *, closes: bool, gives_up_open: bool, is_json: bool) -> int:
    """Show the progress of a review, and what it says about the system.

    Accuracy is that of values labeled before their prediction was seen; missed errors are those in documents
    with gold.
    """
    from fieldassay.review.log import Store
    from fieldassay.review.sheets.sheets import read_form
    from fieldassay.review.status import close_review, read_status, render_status

    store = Store(folder)
    if closes:
        close_review(store, gives_up_open=gives_up_open)
    form, _ = read_form(store)
    with store.reading() as db:
        status = read_status(db, form)
    tell(status.to_dict, lambda: render_status(status), is_json=is_json)
    return 0


for _command in (promote, export, agreement):
    review.add_command(_command)
