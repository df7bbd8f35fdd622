"""The page of the checks has every check and option, and its example judges as the page says."""

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.doc_pages import TEXTS, blocks

from fieldassay.records.record import Meta, Record
from fieldassay.scoring.checking import check_records
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.catalogue import CHECKS

PAGE = "docs/checks.md"
PLAN = read_plan(next(text for text in blocks(PAGE, "yaml") if "name: engineering" in text))
TOP = PLAN.checks[0].check.keys


@pytest.mark.parametrize("name", CHECKS.entries)
def test_the_page_has_every_check_with_its_options(name):
    (row,) = [line for line in TEXTS[PAGE].splitlines() if line.startswith(f"| `{name}` |")]
    options = row.split("|")[2]
    assert [
        field.name
        for field in dataclasses.fields(CHECKS.load(name))
        if field.init and f"`{field.name}`" not in options
    ] == []


def violations(**parts):
    found = []
    data = {**{key: {} for key in TOP}, **parts}
    check_records(
        PLAN, "a", [Record("d", data, Meta(), "p:1")], lambda _, one: found.append((one.path, one.check))
    )
    return found


def flow(**parts):
    return {"process_parameters": {"flow_rate": {"value": 5000, "unit": "m3/h", **parts}}}


KINDS = {
    "flow": (lambda unit: flow(unit=unit), "m3/h Nm3/h kg/h l/min", "m3/s mg/m3 m^3/h m³/h NM3/h Nm3/H"),
    "concentration": (
        lambda unit: {"pollutant_characterization": {"pollutant_list": [{"concentration_unit": unit}]}},
        "mg/Nm3 mg/m3 ppm ppb vol% g/h",
        "mg/m³ % kg/h PPM",
    ),
    "temperature": (
        lambda unit: {"process_parameters": {"temperature": {"unit": unit}}},
        "degC K F",
        "°C C degF",
    ),
    "pressure": (
        lambda unit: {"process_parameters": {"pressure": {"unit": unit}}},
        "mbar Pa kPa bar atm",
        "hPa Bar psi",
    ),
    "any other": (lambda unit: {"site_conditions": {"area": {"unit": unit}}}, "m2 m furlong", "m² m^2 °F m³"),
}


@pytest.mark.parametrize(
    ("kind", "unit", "count"),
    [(kind, unit, 0) for kind, case in KINDS.items() for unit in case[1].split()]
    + [(kind, unit, 1) for kind, case in KINDS.items() for unit in case[2].split()],
)
def test_units_of_the_engineering_example_are_held_to_their_kind_once(kind, unit, count):
    assert [check for _, check in violations(**KINDS[kind][0](unit))] == ["unit_format"] * count


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        (flow(), []),
        (flow(value=None, unit=None, min_value=None), []),
        (flow(value="5.000"), ["process_parameters.flow_rate.value"]),
        (flow(max_value="5500"), ["process_parameters.flow_rate.max_value"]),
        (flow(value=True), ["process_parameters.flow_rate.value"]),
        (flow(unit=5), ["process_parameters.flow_rate.unit"]),
        ({"process_parameters": {"flow_rate": {}}},
         ["process_parameters.flow_rate.value", "process_parameters.flow_rate.unit"]),
        ({"process_parameters": {"flow_rate": None}}, ["process_parameters.flow_rate"]),
        ({"process_parameters": {}}, []),
        ({"pollutant_characterization": {"pollutant_list": [{"concentration": 1},
         {"concentration": "850,5"}]}},
         ["pollutant_characterization.pollutant_list[1].concentration"]),
        ({"customer_specific_questions": [{"priority": "HIGH"}, {"priority": "high"}, {"priority": None},
         {}]},
         ["customer_specific_questions[1].priority", "customer_specific_questions[2].priority"]),
    ],
)  # fmt: skip
def test_values_of_the_engineering_example_are_judged_as_the_page_says(parts, wanted):
    assert [path for path, _ in violations(**parts)] == wanted


def test_each_of_the_ten_sections_that_is_missing_is_a_violation():
    found = []
    check_records(PLAN, "a", [Record("d", {}, Meta(), "p:1")], lambda _, one: found.append(one.path))
    assert found == list(TOP) and len(found) == 10
