"""Records reference vectors: `python record_references.py MODEL_FOLDER`, with sentence-transformers."""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
LONG = " ".join(
    f"Line {number}: {number * 7} boxes of grade {number % 5} paper, delivered to warehouse {number % 11}."
    for number in range(60)
)
TEXTS = [
    "",
    "a",
    "knife",
    "a sharp kitchen knife",
    "firearm",
    "handgun, 9 mm",
    "Acme Corp Pty Ltd",
    "ACME CORPORATION",
    "acme corporation",
    "Invoice total: $1,234.50",
    "1234.5",
    "2024-03-04",
    "4 March 2024",
    "42 Wallaby Way, Sydney NSW 2000",
    "myocardial infarction",
    "heart attack",
    "Losartán 50 mg",
    "losartan 50mg tablets",
    "Qualitätssicherung für Kühlgeräte",
    "Der Vertrag endet am 31. Dezember.",
    "Le contrat prend fin le 31 décembre.",
    "合同于十二月三十一日终止",
    "契約は12月31日に終了します",
    "계약은 12월 31일에 종료됩니다",
    "Договор истекает 31 декабря",
    "ينتهي العقد في 31 ديسمبر",
    "สัญญาสิ้นสุด",
    "🚑🔥 ambulance",
    "👩‍👩‍👧‍👦",
    "e\u0301clair \u200b ﬁne\u00a0print\u202e",
    "[CLS] not a [SEP] special [PAD] case [MASK]",
    "  tabs\tand\nline breaks  ",
    "x" * 150,
    "-----",
    "the seller may terminate this agreement upon thirty days written notice",
    "either party can end the contract after giving a month's notice in writing",
    LONG,
    LONG + " The rest of this text is beyond what the model reads.",
    "[]{}()<>|\\/\"'`~",
]


def main(folder: str) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu", local_files_only=True)
    vectors = np.asarray(model.encode(TEXTS, normalize_embeddings=True, batch_size=8), dtype=np.float32)
    np.save(HERE / "references.npy", vectors)
    packages = ("sentence-transformers", "transformers", "tokenizers", "torch")
    told = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "max_length": model.max_seq_length,
        "versions": {name: version(name) for name in packages},
        "texts": TEXTS,
    }
    (HERE / "references.json").write_text(
        json.dumps(told, ensure_ascii=True, indent=1) + "\n", encoding="ascii"
    )


if __name__ == "__main__":
    main(sys.argv[1])
