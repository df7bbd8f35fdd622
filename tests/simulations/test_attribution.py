"""The corrected share of reading is the true one, and its interval holds it, where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from rates import count
from tests.effort import trials

from fieldassay.attribution.share import AT, COUNTS, BootstrapSettings, FieldShares, estimate_shares

DOCUMENTS, FIELDS, FOREIGN = 400, 10, 5
WRONG_IF_LOST = 0.9
HARD = 0.2
"""The share of hard documents, in which reading loses a quarter of the values, and of others a sixteenth."""
LOST = (0.0625, 0.25)


@dataclass(frozen=True)
class World:
    """Chance and missed share, and how often the model errs in easy and in hard documents."""

    name: str
    chance: float
    missed: float
    errors: tuple[float, float] = (0.0755, 0.0755)
    true: float = 0.522
    corrected: float = 0.522

    @property
    def truth(self) -> float:
        """The share of the wrong values that would be right if nothing were lost."""
        parts = tuple(zip((1 - HARD, HARD), LOST, self.errors, strict=True))
        wrong = sum(share * (lost * WRONG_IF_LOST + (1 - lost) * error) for share, lost, error in parts)
        due = sum(share * lost * (WRONG_IF_LOST - error) for share, lost, error in parts)
        return due / wrong


WORLDS = (
    World("found and missed as they are", 0.0, 0.0),
    World("chance .25, missed .08", 0.25, 0.08),
    World("chance .25, missed .20", 0.25, 0.20),
    World("chance .50, missed .10", 0.50, 0.10),
    World("hard for both", 0.25, 0.08, (0.0637, 0.358), true=0.36, corrected=0.411),
)
"""The table of the documentation."""


def simulate(world: World, seed: int, is_corrected: bool = True) -> FieldShares:
    """Return the shares of all fields in one sample of a world."""
    draws = np.random.Generator(np.random.Philox(seed))
    shape = (DOCUMENTS, FIELDS)
    is_hard = np.broadcast_to((draws.random(DOCUMENTS) < HARD)[:, None], shape).astype(int)
    lost = draws.random(shape) < np.array(LOST)[is_hard]
    wrong = draws.random(shape) < np.where(lost, WRONG_IF_LOST, np.array(world.errors)[is_hard])
    absent = draws.random(shape) < np.where(lost, 1 - world.chance, world.missed)
    perfect = ~lost & ~wrong & (draws.random(shape) < 0.5)
    counts = np.zeros((*shape, len(COUNTS)))
    held = {
        "values": 1, "absent": absent, "wrong": wrong, "wrong_absent": wrong & absent, "all_wrong": wrong,
        "perfect": perfect, "missed": perfect & absent & is_corrected, "foreign": FOREIGN,
        "chance": draws.binomial(FOREIGN, world.chance, shape) * is_corrected,
    }  # fmt: skip
    for name, values in held.items():
        counts[:, :, AT[name]] = values
    names = [f"{seed}-{number}" for number in range(DOCUMENTS)]
    return estimate_shares(
        counts, names, [(f"f{at}", "text") for at in range(FIELDS)], BootstrapSettings(800, seed)
    )[0]


@pytest.mark.parametrize("world", [pytest.param(world, id=world.name) for world in WORLDS])
def test_the_corrected_share_is_that_of_the_table_whatever_is_found_by_chance_or_missed(world: World) -> None:
    many = trials(60)
    shares = [simulate(world, seed).share("reading").value for seed in range(many)]
    values = [share for share in shares if share is not None]
    assert len(values) == many
    assert world.truth == pytest.approx(world.true, abs=0.002)
    assert np.mean(values) == pytest.approx(world.corrected, abs=4 * 0.04 / many**0.5 + 0.005)


@pytest.mark.parametrize("world", [pytest.param(world, id=world.name) for world in WORLDS[:4]])
def test_the_interval_holds_the_true_share(world: World) -> None:
    held = []
    for seed in range(trials(120)):
        found = simulate(world, 10_000 + seed).share("reading")
        assert found.interval is not None
        held.append(found.interval[0] <= world.truth <= found.interval[1])
    assert (rate := count("attribution", world.name, held, least=0.9)).is_kept, rate


def test_a_share_without_the_correction_is_far_from_the_true_one() -> None:
    """What shows that the simulation can tell."""
    shares = [
        simulate(WORLDS[1], seed, is_corrected=False).share("reading").value for seed in range(trials(60))
    ]
    assert np.mean([share or 0.0 for share in shares]) == pytest.approx(0.372, abs=0.03)
