"""Units as laboratories write them: powers of ten, UCUM, counts; no capital letter changes a unit in silence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import outcome_of

from fieldassay.scoring.explain import judge_rows
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.types.numbers.quantities import QuantityReader
from fieldassay.values.types.numbers.unit_conversion import conversion
from fieldassay.values.types.numbers.unit_spellings import PREFIXED
from fieldassay.values.types.numbers.units import canonical_unit, unit_flags

SPELLINGS = {
    "10*9/L": "10^9/L 10*9/L 10**9/L x10⁹/L ×10^9/L x10^9/l 10e9/L 10E9/L 10E+9/L X10E9/L 10⁹·L⁻¹ 10*9.L-1 G/L G/l Gpt/l Mrd/l",
    "10*12/L": "10^12/L 10*12/L x10¹²/L T/L T/l",
    "10*3/uL": "10^3/uL 10*3/uL 10³/µL 10³/μl x10E3/uL x10^3/mcL K/uL k/µL thou/uL Tsd/µl Tsd./µl 10*3{cells}/uL",
    "10*6/uL": "10^6/uL 10*6/uL 10⁶/µL M/uL Mio/µl Mio./µl million/uL",
    "10*3/mm3": "10^3/mm3 K/mm³ K/cumm 10³/cmm thousand/cumm",
    "1/uL": "/uL 1/µl cells/uL {cells}/uL cells/mcL Zellen/µl #/uL",
    "1/mm3": "/cumm cells/cumm /mm³ cells/mm3",
    "mL/min/1.73m2": "mL/min/1.73m2 mL/min/1.73m² ml/min/1,73m^2 mL/min/{1.73_m2} mL/min/1.73m**2 mL/min/1.73sqm",
    "g/dL": "g/dL gm/dL g/dl gm% g% gm%",
    "mg/dL": "mg/dL mg/dl mg% mgs/dL",
    "mmol/L": "mmol/L mmol/l mmol.L-1 mmol·L⁻¹",
    "meq/L": "mEq/L meq/L meq/l",
    "IU/L": "IU/L [IU]/L [iU]/L U/L iu/L",
    "mIU/mL": "mIU/mL m[IU]/mL m[iU]/mL mU/mL",
    "uIU/mL": "µIU/mL uIU/mL u[IU]/mL",
    "ug/L": "ug/L µg/L μg/l mcg/L",
    "umol/L": "umol/L µmol/L mcmol/L",
    "fL": "fL fl",
    "pg": "pg",
    "pg/mL": "pg/mL pg/ml",
    "nmol/L": "nmol/L",
    "ukat/L": "ukat/L µkat/l",
    "mosm/kg": "mosm/kg mOsm/kg",
    "mmHg": "mmHg mm[Hg]",
    "cmH2O": "cmH2O cm[H2O]",
    "degC": "Cel °C",
    "degF": "[degF] °F",
    "lb": "[lb_av] lb",
    "1/[HPF]": "/[HPF] /HPF /hpf",
    "[CFU]/mL": "[CFU]/mL CFU/mL cfu/ml",
    "mg/d": "mg/d mg/24h mg/(24.h)",
    "mg/g": "mg/g mg/g{creat}",
}  # fmt: skip
DIFFERENT = [
    ("quantity", "7.2 G/L", "7.2 g/L"),
    ("quantity", "7.2 T/L", "7.2 t/L"),
    ("quantity", "7.2 K/uL", "7.2 K"),
    ("quantity", "7.2 M/uL", "7.2 m/uL"),
    ("quantity", "7.2 10^9/L", "7.2 10^3/L"),
    ("quantity", "7.2 10^9/L", "7.2 /L"),
    ("quantity", "90 mL/min/1.73 m²", "90 mL/min"),
    ("quantity", "90 mL/min/1.73 m²", "90 mL/min/m2"),
    ("quantity", "250 Calories", "250 calories"),
    ("quantity", "5 Mg", "5 mg"),
    ("quantity", "5 mW", "5 MW"),
    ("unit", "G/L", "g/L"),
    ("unit", "K/uL", "K"),
    ("unit", "T/L", "t/L"),
    ("unit", "10^9/L", "10^6/L"),
    ("unit", "mL/min/1.73m2", "mL/min"),
]
EQUAL = [
    ("quantity", "7.2 G/L", "7.2 x10^9/L"),
    ("quantity", "7.2 G/L", "7,2·10⁹/l"),
    ("quantity", "7.2 K/uL", "7.2 x10^3/uL"),
    ("quantity", "7.2 K/uL", "7200 cells/uL"),
    ("quantity", "7.2 10*3/uL", "7.2 x10^3/uL"),
    ("quantity", "7.2 10E3/uL", "7.2x10E3/uL"),
    ("quantity", "7.2 10*9/L", "7.2 10^3/uL"),
    ("quantity", "7.2 K/uL", "7.2 G/L"),
    ("quantity", "250 thousand/mm3", "2.5 lakh/cumm"),
    ("quantity", "13.5 gm/dL", "13.5 g/dL"),
    ("quantity", "13.5 gm%", "135 g/L"),
    ("quantity", "90 fl", "90 fL"),
    ("quantity", "90 mL/min/1.73 m2", "90 ml/min/1,73 m²"),
    ("quantity", "60-89 mL/min/1.73m²", "60 to 89 mL/min/{1.73_m2}"),
    ("quantity", "150 mg/24 h", "150 mg/d"),
    ("unit", "10^9/L", "x10⁹/L"),
    ("unit", "mL/min/1.73m2", "mL/min/1.73 m²"),
    ("unit", "10*3/uL", "10^3/uL"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spelling", "unit"),
    [(spelling, unit) for unit, spellings in SPELLINGS.items() for spelling in spellings.split()],
)
def test_a_spelling_of_laboratories_is_read_without_a_doubt(spelling: str, unit: str) -> None:
    assert (canonical_unit(spelling), unit_flags(spelling)) == (unit, ())


@pytest.mark.parametrize(("type_name", "gold", "pred"), DIFFERENT)
def test_a_prefix_is_no_unit_and_a_count_no_mass(type_name: str, gold: str, pred: str) -> None:
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "mismatch"


@pytest.mark.parametrize(("type_name", "gold", "pred"), EQUAL)
def test_one_amount_in_two_spellings_matches(type_name: str, gold: str, pred: str) -> None:
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "match"


@pytest.mark.parametrize("unit", ["10^9/L", "x10⁹/L", "G/L", "10*9/L", "10E9/L"])
@pytest.mark.parametrize("text", ["7.2 x10^9/L", "7.2 G/L"])
def test_value_and_unit_in_two_keys_are_as_in_one_text(unit: str, text: str) -> None:
    plan = read_plan({"name": "lab", "fields": {"v": {"type": "quantity", "unit_field": "u"}}})
    for gold, pred in (({"v": 7.2, "u": unit}, {"v": text}), ({"v": text}, {"v": "7.2", "u": unit})):
        assert [row["outcome"] for row in judge_rows(plan, gold, pred)] == ["match"]


def test_a_power_of_ten_may_be_the_unit_of_a_field() -> None:
    assert QuantityReader(canonical="10^9/L").read("7.2 K/uL").canonical == "7.2 10*9/L"
    assert QuantityReader(unit="10^9/L").read("7.2").canonical == "7200000000 1/L"


@pytest.mark.parametrize(
    "text",
    [
        "MG",
        "ML",
        "Ml",
        "MM",
        "MMOL/L",
        "MEQ/L",
        "MG/DL",
        "G/dL",
        "T/h",
        "G",
        "T",
        "M",
        "D",
        "Cal",
        "Mbar",
        "H",
    ],
)
def test_a_unit_read_in_small_letters_is_flagged_where_its_capitals_mean_another(text: str) -> None:
    assert canonical_unit(text) is not None
    assert unit_flags(text) == ("ambiguous",)
    assert QuantityReader().read(f"5 {text}").flags == ("ambiguous",)


@pytest.mark.parametrize("base", PREFIXED)
def test_a_capital_prefix_is_never_a_small_one_in_silence(base: str) -> None:
    for other in {f"M{base}", f"m{base}".capitalize(), f"m{base}".upper()}:
        assert canonical_unit(other) != canonical_unit(f"m{base}") or unit_flags(other), other


def test_body_surface_converts_to_nothing_else() -> None:
    assert conversion("mL/min/1.73m2", "mL/min") is None
    assert conversion("mL/min/1.73m2", "mL/min/m2") is None


@given(
    st.sampled_from(["x", "X", "×", ""]),
    st.sampled_from(["10^{}", "10*{}", "10**{}", "10E{}", "10e{}"]),
    st.integers(1, 15),
    st.sampled_from(["L", "uL", "mm3", "mL"]),
)
def test_a_power_of_ten_is_a_factor_in_every_spelling(sign: str, form: str, power: int, volume: str) -> None:
    unit = f"{sign}{form.format(power)}/{volume}"
    assert canonical_unit(unit) == f"10*{power}/{volume}"
    assert (
        QuantityReader().read(f"3.5 {unit}").value
        == QuantityReader().read(f"{35 * 10 ** (power - 1)} /{volume}").value
    )
