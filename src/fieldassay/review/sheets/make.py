"""How a review is made: its questions, sheets and documents."""

import hashlib
import json
import math
import shlex
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct, field
from msgspec.structs import asdict, replace

from fieldassay.attribution.share import suspicious_gold_of_run
from fieldassay.decisions.calibration.certificate import Certificate, Guarantee
from fieldassay.decisions.calibration.observations import is_judged
from fieldassay.decisions.calibration.policy import (
    ReviewPolicy,
    ReviewTask,
    find_plan,
    list_items,
    policy_bytes,
)
from fieldassay.documents.sources import DocumentFile, list_documents
from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.io.files.whole_files import checksum
from fieldassay.io.json_value import read_given
from fieldassay.io.text.shown import format_count
from fieldassay.options import OptionRecord
from fieldassay.paths import field_of
from fieldassay.records.keys import cap_problems, stem_of
from fieldassay.review.log import Reason, ReviewEvent, Showing, Store, create_store, is_in_list, items_above
from fieldassay.review.sheets.sheets import ReviewForm, show
from fieldassay.runs.run import Run
from fieldassay.scoring.engine.scopes import canonical_type
from fieldassay.scoring.explain import judge_without_gold
from fieldassay.scoring.inputs import open_gold, open_predictions
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan
from fieldassay.version import __version__

# The draw of a review: which values are asked, and which of them are shown as predicted. Everything is
# drawn by a hash of seed, document and path alone: the order of documents decides nothing, and the
# probability of every choice is known.


Share = Annotated[float, Meta(ge=0, le=1, examples=[0.1])]


class Shares(OptionRecord, frozen=True):
    """The shares of an audit, fixed when the review is made.

    `double` of the documents are labeled twice, blind; the prediction is withheld of `withheld` of the values
    that the policy sends to review; `empty` of the fields without a prediction are asked; `audited` of the
    values that the policy accepts are asked nevertheless.
    """

    double: Share = 0.1
    withheld: Share = 0.1
    empty: Share = 0.05
    seed: int = 0
    audited: Share = 0.03

    def is_double(self, document: str) -> bool:
        """Return whether a document is labeled by two people, each blind.

        >>> sum(Shares().is_double(f"doc-{number}") for number in range(10_000))
        987
        """
        return uniform(self.seed, "double", document) < self.double


GOLD = Shares(double=0.0, withheld=0.0, empty=1.0, audited=0.0)
"""Makes gold: everything is asked once, and every prediction shown."""


def uniform(seed: int, purpose: str, document: str, path: str = "") -> float:
    """Return a number in [0, 1) that depends on its arguments alone, as if it were random.

    >>> round(uniform(0, "double", "doc-1"), 4) == round(uniform(0, "double", "doc-1"), 4)
    True
    """
    text = f"review {purpose} {seed} {len(document)} {document} {path}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2.0**64


def looked_at(shares: Shares, *, is_flagged: bool, is_in_list: bool) -> float:
    """Return the probability that a predicted value is labeled without its prediction being seen.

    `is_flagged`: the policy sends it to review. Values in lists are not asked one by one where a document is
    labeled twice.

    >>> shares = Shares(double=0.5, withheld=0.2, audited=0.1)
    >>> looked_at(shares, is_flagged=False, is_in_list=False)
    0.55
    >>> looked_at(shares, is_flagged=True, is_in_list=True)
    0.1
    """
    chance = shares.withheld if is_flagged else shares.audited
    return (0.0 if is_in_list else shares.double) + (1.0 - shares.double) * chance


def spread(margins: Sequence[float], place: float) -> float:
    """Return the margin at a place from 0 to 1 among margins in falling order; 0 without any.

    >>> spread([9.0, 5.0, 1.0], 0.5), spread([], 0.5)
    (5.0, 0.0)
    """
    return margins[min(int(place * len(margins)), len(margins) - 1)] if margins else 0.0


# The questions of one document: which of its values are asked, and what is shown of each.


class AskedValue(NamedTuple):
    """A value that is asked, or shown beside asked ones; `predicted` and `truth` are JSON texts."""

    node: str
    field: str
    shown: str
    given: str | None
    predicted: str | None
    truth: str | None
    reason: str
    margin: float
    probability: float


class Predicted(NamedTuple):
    """A predicted value of a document: its path and field, and the value as JSON text."""

    path: str
    field: str
    value: str


class AskedDocument(Struct, frozen=True):
    """What is known of a document before its review: predictions, why people look at them, trusted gold."""

    name: str
    values: Sequence[Predicted] = ()
    tasks: Mapping[str, ReviewTask] = field(default_factory=dict)
    truth: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    """Its type as predicted."""


class Questions(Struct, frozen=True):
    """The questions of a document, whether it is labeled twice and blind."""

    values: tuple[AskedValue, ...]
    slots: int
    is_blind: bool
    margin: float
    is_flagged: bool
    """Whether the policy sends any of its values to review."""


class Interview(Struct, frozen=True):
    """Makes the questions of documents."""

    form: ReviewForm
    shares: Shares
    has_predictions: bool = True

    def ask(self, document: AskedDocument) -> Questions | None:
        """Return the questions of a document; None where nothing is asked."""
        is_double = self.shares.is_double(document.name)
        if is_double or not self.has_predictions:
            return Questions(tuple(self._blind(document, is_double)), 2 if is_double else 1, True, 0.0, False)
        asked_values = [*self._asked_values(document), *self._empty(document)]
        if not asked_values:
            return None
        shown = (*asked_values, *self._context(document, asked_values))
        tasks = [task for task in document.tasks.values() if task.reason is not Reason.AUDIT]
        margin = math.fsum(task.item.doubt for task in tasks)
        in_order = tuple(sorted(shown, key=lambda value: self.form.place(value.node)))
        return Questions(in_order, 1, False, margin, bool(tasks))

    def _is_drawn(self, share: str, document: AskedDocument, path: str) -> bool:
        return bool(uniform(self.shares.seed, share, document.name, path) < getattr(self.shares, share))

    def _blind(self, document: AskedDocument, is_double: bool) -> Iterator[AskedValue]:
        """Yield every field, with nothing shown."""
        values = {value.path: value for value in document.values}
        for path in self.form.asked_paths:
            value = values.get(path)
            task = document.tasks.get(path)
            is_flagged = task is not None and task.reason is not Reason.AUDIT
            reason = Reason.DOUBLE_FLAGGED if is_flagged else Reason.DOUBLE
            reason = reason if is_double else Reason.NO_PREDICTIONS
            chance = (
                looked_at(self.shares, is_flagged=is_flagged, is_in_list=False) if value is not None else 1.0
            )
            predicted = None if value is None else value.value
            truth = document.truth.get(path)
            yield AskedValue(path, path, Showing.NOTHING, None, predicted, truth, reason, 0.0, chance)

    def _asked_values(self, document: AskedDocument) -> Iterator[AskedValue]:
        """Yield the predicted values that the policy sends to review, or that are audited."""
        for path, name, value in document.values:
            task = document.tasks.get(path)
            if task is None:
                continue
            is_audit = task.reason is Reason.AUDIT
            is_hidden = is_audit or self._is_drawn("withheld", document, path)
            chance = looked_at(self.shares, is_flagged=not is_audit, is_in_list=is_in_list(path))
            text = None if is_hidden else show(self.form.leaf(name), read_given(value))
            shown = Showing.NOTHING if is_hidden else Showing.PREDICTION
            truth = document.truth.get(path)
            yield AskedValue(path, name, shown, text, value, truth, task.reason, task.item.doubt, chance)

    def _empty(self, document: AskedDocument) -> Iterator[AskedValue]:
        """Yield the drawn fields without a prediction, and the drawn empty cells of predicted rows."""
        filled = {value.path for value in document.values}
        above = [pair for value in document.values for pair in items_above(value.path)]
        filled |= {listed for listed, _ in above}
        filled |= {tree for value in document.values if (tree := self.form.tree_at(value.path))}
        places = [(path, path) for path in self.form.asked_paths]
        rows = dict.fromkeys(item for _, item in above)
        places += [cell for item in rows for cell in self.form.cells(item)]
        for path, name in places:
            types = self.form.types_of.get(name)
            is_possible = self.shares.empty == 1.0 or document.kind in (None, *(types or [document.kind]))
            if path not in filled and is_possible and self._is_drawn("empty", document, path):
                truth = None if is_in_list(path) else document.truth.get(path)
                reason = Reason.NOT_PREDICTED
                yield AskedValue(
                    path, name, Showing.NOTHING, None, None, truth, reason, 0.0, self.shares.empty
                )

    def _context(self, document: AskedDocument, asked_values: Sequence[AskedValue]) -> Iterator[AskedValue]:
        """Yield the other values of lists with an asked value: they help to find it on the page."""
        nodes = {value.node for value in asked_values}
        near = {listed for value in asked_values for listed, _ in items_above(value.node)}
        for path, name, value in document.values:
            above = list(items_above(path))
            if path not in nodes and above and above[0][0] in near:
                text = show(self.form.leaf(name), read_given(value))
                yield AskedValue(path, name, Showing.CONTEXT, text, value, None, Reason.CONTEXT, 0.0, 0.0)


def ask_blind(places: Sequence[tuple[str, str, str]]) -> Questions:
    """Return questions about given places (path, value of the systems, gold), with nothing shown."""
    questions = tuple(
        AskedValue(path, field_of(path), Showing.NOTHING, None, predicted, truth, Reason.SUSPICIOUS, 1.0, 1.0)
        for path, predicted, truth in places
    )
    return Questions(questions, 1, False, float(len(places)), True)


# A new review: from predictions, policy, gold and documents to what is asked, in the order of its worth.

_MOST_NAMED = 5


class ReviewRequest(Struct, frozen=True):
    """The inputs of a new review.

    Without predictions every field of every document is asked, blind. `gold` is trusted: the rate of
    missed errors stands on it. `shares` make gold, or are those of an audit.
    """

    spec: Any = None
    predictions: Mapping[str, Any] = field(default_factory=dict)
    policy: ReviewPolicy | None = None
    gold: Any = None
    documents: Path | None = None
    shares: Shares = GOLD


class NewReview(Struct, frozen=True):
    """A new review: how much it asks, and remarks."""

    store: Store
    documents: int
    sheets: int
    values: int
    notes: tuple[str, ...] = ()


class _ReviewInputs(Struct, frozen=True, eq=False):
    """Everything that was read of the inputs."""

    plan: Plan
    system: str | None
    names: Sequence[str]
    values: Mapping[str, Sequence[Predicted]] = field(default_factory=dict)
    tasks: Mapping[str, Mapping[str, ReviewTask]] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    truth: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gold_digests: Mapping[str, str] = field(default_factory=dict)
    accepted: int = 0
    notes: tuple[str, ...] = ()


def make_review(folder: Path, request: ReviewRequest) -> NewReview:
    """Return a new review in a folder. Raises `ProblemsError` with the problems of the inputs."""
    policy = request.policy
    plan = read_plan(request.spec) if policy is None else find_plan(policy, request.spec)
    request = replace(request, shares=replace(request.shares, seed=plan.spec.statistics.seed))
    inputs = _read(plan, request)
    interview = Interview(ReviewForm(inputs.plan), request.shares, inputs.system is not None)
    questions_by_document = {
        name: questions
        for name in inputs.names
        if (questions := interview.ask(_document(inputs, name))) is not None
    }
    return _create(folder, request, inputs, questions_by_document)


def make_suspicious_review(folder: Path, run: Run, request: ReviewRequest) -> NewReview:
    """Return a new review of the gold values that all or most systems of a run contradict in the same way.

    Each is asked with nothing shown: neither gold nor the systems' value.
    """
    suspicious = suspicious_gold_of_run(run)
    if not suspicious.values:
        what = f"no gold value is contradicted by all or most systems in the same way; {suspicious.extent}"
        raise problem(run.folder, what, "there is nothing to review", "nothing_to_review")
    places: dict[str, list[tuple[str, str, str]]] = {}
    for value in suspicious.values:
        places.setdefault(value.doc, []).append((value.path, value.agreed or "null", value.gold or "null"))
    inputs = _ReviewInputs(run.plan, None, tuple(places))
    return _create(
        folder,
        request,
        inputs,
        {name: ask_blind(document_places) for name, document_places in places.items()},
    )


def _read(plan: Plan, request: ReviewRequest) -> _ReviewInputs:
    if request.predictions:
        inputs = _read_predictions(plan, request)
    elif request.documents is not None:
        inputs = _ReviewInputs(plan, None, tuple(file.id for file in list_documents(request.documents).files))
    else:
        remedy = "give --pred NAME=FILE, or --documents DIR to label from the beginning"
        raise problem("review", "there is nothing to review", remedy, "missing_option")
    return inputs if request.gold is None else _with_gold(inputs, request)


def _read_predictions(plan: Plan, request: ReviewRequest) -> _ReviewInputs:
    sources = open_predictions(plan, request.predictions)
    if len(sources) != 1:
        raise _several(sources, request)
    [(system, source)] = sources.items()
    if request.policy is not None and system != request.policy.system:
        what = f"the policy is for the system {request.policy.system!r}, not for {system!r}"
        raise problem("--policy", what, "give predictions of that system", "policy_mismatch")
    policy = request.policy or ReviewPolicy(system, Guarantee(), Certificate(()))
    rows, unread = judge_without_gold(plan, source)
    rows = rows.filter(is_judged())
    tasks: dict[str, dict[str, ReviewTask]] = {}
    accepted = 0
    for item in list_items(rows, policy):
        reason: StrEnum | None = policy.needs_review(item.field, item.confidence)
        accepted += reason is None
        chance = uniform(request.shares.seed, "audit", item.document, item.path)
        if reason is None and chance < request.shares.audited:
            reason = Reason.AUDIT
        if reason is not None:
            tasks.setdefault(item.document, {})[item.path] = ReviewTask(item, reason)
    values: dict[str, list[Predicted]] = {}
    for doc, *rest in rows.select("doc", "pred_path", "field", "pred").iter_rows():
        values.setdefault(doc, []).append(Predicted(*rest))
    notes = [str(note) for note in source.notes]
    if unread:
        notes.append(
            f"{source.label}: {len(unread):,} answers could not be read, such as that of {unread[0]!r}: they "
            "count as documents without predictions"
        )
    variants = {record.id: variant for record in source if (variant := record.meta.variant)}
    variant_names = list(dict.fromkeys(variants.values()))
    if len(variant_names) > 1:
        notes.append(
            f"{source.label}: its records are of several variants ({list_names(variant_names, _MOST_NAMED)})"
        )
    return _ReviewInputs(
        plan,
        system,
        tuple(source.ids),
        values,
        tasks,
        variants,
        accepted=accepted,
        notes=tuple(notes),
    )


def _several(systems: Iterable[str], request: ReviewRequest) -> ProblemsError:
    """Return the error for predictions of several systems, variants or runs."""
    first = next(iter(systems))
    name = next(iter(request.predictions))
    remedy = "review one run at a time: give a file with the rows of that run alone"
    if first == name or first.startswith(f"{name}/"):
        remedy = f"review one at a time, as in --pred {shlex.quote(f'{first}=FILE')}"
    what = f"predictions of several systems ({', '.join(systems)})"[:300]
    return problem("--pred", what, remedy, "ambiguous_system")


def _with_gold(inputs: _ReviewInputs, request: ReviewRequest) -> _ReviewInputs:
    """Return what is known with the truth of documents that have trusted gold."""
    source = open_gold(inputs.plan, request.gold)
    rows, _ = judge_without_gold(inputs.plan, source)
    wanted = set(inputs.names)
    truth: dict[str, dict[str, str]] = {}
    for doc, path, value in rows.filter(is_judged()).select("doc", "pred_path", "pred").iter_rows():
        if doc in wanted:
            truth.setdefault(doc, {})[path] = value
    digests = {record.id: checksum(record.data) for record in source if record.id in wanted}
    if not digests:
        what = "has no document of the review"
        remedy = "give gold with the ids of the predictions"
        raise problem(source.label, what, remedy, "unknown_document")
    return replace(inputs, truth=truth, gold_digests=digests)


def _document(inputs: _ReviewInputs, name: str) -> AskedDocument:
    """Return what is known of a document; its type is the predicted one."""
    nothing: dict[str, Any] = {}
    values, declared = inputs.values.get(name, ()), inputs.plan.spec.document_type
    kinds = [value.value for value in values if declared is not None and value.path == declared.field]
    kind = canonical_type(inputs.plan, read_given(kinds[0])) if kinds else None
    return AskedDocument(name, values, inputs.tasks.get(name, nothing), inputs.truth.get(name, nothing), kind)


def _create(
    folder: Path,
    request: ReviewRequest,
    inputs: _ReviewInputs,
    questions_by_document: Mapping[str, Questions],
) -> NewReview:
    if not questions_by_document:
        what = "no value is sent to review, audited or drawn"
        raise problem("review", what, "nothing is left to review", "nothing_to_review")
    notes, files = list(inputs.notes), dict[str, DocumentFile]()
    if request.documents is not None:
        files = _find_files(request.documents, inputs, questions_by_document)
        notes += _remarks(request.documents, inputs, files)
    ordered = _place(questions_by_document, request.shares.seed)
    entries = (_facts(request, inputs), *_events(ordered, files, inputs))
    store = create_store(folder, entries)
    counted = [
        value
        for questions in questions_by_document.values()
        for value in questions.values
        if value.shown != "context"
    ]
    slots = sum(questions.slots for questions in questions_by_document.values())
    return NewReview(store, len(questions_by_document), slots, len(counted), tuple(notes))


def _facts(request: ReviewRequest, inputs: _ReviewInputs) -> ReviewEvent:
    policy = None if request.policy is None else json.loads(policy_bytes(request.policy))
    facts = {
        "spec": write_spec(inputs.plan.spec),
        "plan_digest": inputs.plan.digest,
        "system": inputs.system,
        "policy": policy,
        "shares": asdict(request.shares),
        "accepted": inputs.accepted,
        "values": sum(map(len, inputs.values.values())),
        "documents": None if request.documents is None else str(request.documents.resolve()),
        "fieldassay": __version__,
        "closed": False,
    }
    return ReviewEvent("review", facts, "command")


def _place(questions_by_document: Mapping[str, Questions], seed: int) -> list[tuple[str, Questions]]:
    """Return the documents with margins by which they are taken in turn.

    Documents that the policy sends to review come by what that is worth; the others, audits and blind ones,
    are spread among them by chance, so that their place tells nothing.
    """
    flagged: list[float] = []
    for questions in questions_by_document.values():
        if questions.is_flagged:
            insort(flagged, -questions.margin)
    margins = [-margin for margin in flagged]
    return [
        (
            name,
            questions
            if questions.is_flagged
            else replace(questions, margin=spread(margins, uniform(seed, "place", name))),
        )
        for name, questions in questions_by_document.items()
    ]


def _events(
    ordered: Iterable[tuple[str, Questions]], files: Mapping[str, DocumentFile], inputs: _ReviewInputs
) -> Iterator[ReviewEvent]:
    sheet = 0
    for number, (name, questions) in enumerate(ordered, 1):
        file = files.get(name)
        sheets = []
        for slot in range(questions.slots):
            sheet += 1
            sheets.append(
                {"id": sheet, "slot": slot, "blind": int(questions.is_blind), "margin": questions.margin}
            )
        body = {
            "id": number,
            "name": name,
            "path": None if file is None else file.id,
            "sha256": None if file is None else hashlib.sha256(file.read()).hexdigest(),
            "gold_digest": inputs.gold_digests.get(name),
            "asked": [list(value) for value in questions.values],
            "sheets": sheets,
        }
        yield ReviewEvent("document", body, "command")


def _find_files(folder: Path, inputs: _ReviewInputs, names: Iterable[str]) -> dict[str, DocumentFile]:
    """Return the file of each document: named after its id, or else the only one with that stem.

    Those in a folder with the name of the document's variant come first: values are shown beside the reading
    that they are from.
    """
    stems: dict[str, list[DocumentFile]] = {}
    for file in list_documents(folder).files:
        stems.setdefault(stem_of(file.id), []).append(file)
    files: dict[str, DocumentFile] = {}
    lacking: list[str] = []
    problems: list[Problem] = []
    remedy = "name files by the ids of the documents"
    for name in names:
        same, variant = stems.get(stem_of(name), []), inputs.variants.get(name)
        readings = [file for file in same if variant in PurePosixPath(file.id).parts[:-1]]
        whole = [file for file in readings if name in (file.id, file.id.replace(f"{variant}/", "", 1))]
        fitting = whole or [file for file in same if file.id == name] or readings or same
        if len(fitting) == 1:
            files[name] = fitting[0]
        elif fitting:
            listed = list_names([file.id for file in fitting], _MOST_NAMED)
            what = f"{len(fitting)} files for the document {name[:100]!r} ({listed})"
            folder_of_one = f"give --documents the folder of one of them, or {remedy}"
            problems.append(Problem(str(folder), what, folder_of_one, "no_document_file"))
        else:
            lacking.append(name[:100])
    if lacking:
        what = f"no file for {format_count(len(lacking), 'document')}: {list_names([*map(repr, lacking)], 5)}"
        problems.append(Problem(str(folder), what, remedy, "no_document_file"))
    if problems:
        raise ProblemsError(cap_problems(problems))
    return files


def _remarks(folder: Path, inputs: _ReviewInputs, files: Mapping[str, DocumentFile]) -> Iterator[str]:
    """Yield which documents are shown in no reading of their variant, and which have no prediction."""
    around = (folder.resolve().name, folder.resolve().stem)
    others = [
        name
        for name, file in files.items()
        if inputs.variants.get(name, around[0]) not in (*around, *PurePosixPath(file.id).parts[:-1])
    ]
    if others:
        some = f"{format_count(len(others), 'document')} ({list_names(others, _MOST_NAMED)})"
        yield f"{folder}: no folder is named after the variant of {some}: another reading may be shown"
    predicted = set(map(stem_of, inputs.names))
    stems = dict.fromkeys(stem_of(file.id) for file in list_documents(folder).files)
    left = [stem for stem in stems if stem not in predicted]
    if left and inputs.system is not None:
        some = f"{format_count(len(left), 'document')} ({list_names(left, _MOST_NAMED)})"
        yield f"{folder}: {some} without a prediction of {inputs.system}: not in this review"
