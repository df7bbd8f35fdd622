"""Runs of the protocol `engineering-extractor` on a few cases, for its tests."""

from __future__ import annotations

from typing import Any

from fieldassay.metrics.result.result import Result
from fieldassay.scoring.score import score

ACCURACIES = (
    "overall_accuracy",
    "complete_accuracy",
    "critical_complete_accuracy",
    "unit_accuracy",
    "value_accuracy",
    "shape_accuracy",
)

FLOW = {"flow_rate": {"value": 5000, "unit": "m3/h", "min_value": None, "max_value": None}}

EXPECTED = {
    "pollutant_characterization": {
        "pollutant_list": [
            {
                "name": "Toluene",
                "cas_number": "108-88-3",
                "concentration": 850,
                "concentration_unit": "mg/Nm3",
                "category": "VOC",
            }
        ],
        "total_load": {"tvoc": 1270, "tvoc_unit": "mg/Nm3", "total_carbon": None, "odor_units": None},
    },
    "process_parameters": FLOW,
}
CRITICAL = [
    "pollutant_characterization.pollutant_list[0].concentration",
    "pollutant_characterization.pollutant_list[0].concentration_unit",
    "process_parameters.flow_rate.value",
    "process_parameters.flow_rate.unit",
]
VARIATIONS = {"pollutant_characterization.pollutant_list[0].cas_number": ["108-88-3", "108883", None]}

ACTUAL = {
    "pollutant_characterization": {
        "pollutant_list": [
            {
                "name": "Toluene",
                "cas_number": None,
                "concentration": 858.5,
                "concentration_unit": "mg/m3",
                "category": "VOC",
            }
        ],
        "total_load": {"tvoc": "1270", "tvoc_unit": "MG / Nm3", "total_carbon": None},
    },
    "process_parameters": {
        "flow_rate": {"value": 5000, "unit": "m³/h", "min_value": 4500, "max_value": None},
        "pressure": {"value": 3},
    },
}


def judge(expected: Any, actual: Any, critical: Any = (), accepted: Any = None) -> Result:
    gold = [
        {
            "test_case_id": "c",
            "expected_extraction": expected,
            "critical_fields": list(critical),
            "acceptable_variations": accepted or {},
        }
    ]
    return judge_rows(gold, [{"id": "c", "extraction": actual}])


def judge_rows(gold: Any, predictions: Any) -> Result:
    return score(gold, {"v1": predictions}, {"protocol": "engineering-extractor"}, bootstrap=0)


def counts(result: Result) -> dict[str, Any]:
    names = {name: f"errors_{name}" for name in ("unit", "value", "structure", "missing", "extra")}
    names["missing_fields"] = "missing_fields"
    return {name: found for name, metric in names.items() if (found := result.value(metric))}
