"""Names of locales, as systems and people write them."""

import pytest

from fieldassay import score
from fieldassay.errors import ProblemsError
from fieldassay.values.types.locales import find_locale

RESOLVED = {
    "zh_CN": "zh_Hans_CN", "zh_TW": "zh_Hant_TW", "zh-hant-tw": "zh_Hant_TW", "zh": "zh", "sr_RS": "sr_Cyrl_RS",
    "sr_RS@latin": "sr_Latn_RS", "sh_RS": "sr_Latn_RS", "sh": "sr_Latn", "pa_IN": "pa_Guru_IN", "no": "no",
    "no_NO": "nb_NO", "nn-NO": "nn_NO", "bs_BA": "bs_Latn_BA", "iw_IL": "he_IL", "iw": "he", "tl": "fil",
    "en_us": "en_US", "DE-DE": "de_DE", "de_DE@euro": "de_DE", "en_GB.UTF-8": "en_GB", "en_UK": "en_GB",
    "deu_DE": "de_DE", "pt-BR": "pt_BR", "es_419": "es_419",
}  # fmt: skip
REFUSED = {
    "xx_YY": "en_AU", "german": "'de'", "fr_FRA": "'fr_FR'", "C.UTF-8": "en_AU", "": "en_AU", "../de": "en_AU",
}  # fmt: skip


@pytest.mark.parametrize(("name", "resolved"), RESOLVED.items())
def test_a_name_is_resolved_as_cldr_does(name, resolved):
    assert str(find_locale(name)) == resolved


@pytest.mark.parametrize(("name", "proposed"), REFUSED.items())
def test_an_unknown_name_is_refused_with_the_nearest(name, proposed):
    with pytest.raises(ProblemsError, match=f"unknown locale '{name}'.*{proposed}"):
        find_locale(name)


@pytest.mark.parametrize("type_", ["number", "money", "date", "duration", "quantity", "phone"])
@pytest.mark.parametrize("name", ["zh_TW", "iw_IL", "no_NO", "de_de@euro"])
def test_every_type_and_a_spec_take_the_same_names(name, type_):
    gold, fields = {"a": {"v": "5"}}, {"v": type_, "w": {"type": type_, "locale": name}}
    assert score(gold, {"s": gold}, {"locale": name, "fields": fields}).value("accuracy") == 1
