"""The JSON Schema of a Pydantic model, in which each field has its other names: an instance may use any."""

from typing import Any

from pydantic import AliasChoices
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from fieldassay.spec.language.schema import EXTENSION


class SchemaWithNames(GenerateJsonSchema):
    """Names a field as the model's schema does; the attribute and further aliases are its `names`."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """Return the schema of a model."""
        json_schema = super().model_schema(schema)
        properties = json_schema.get("properties", {})
        for attribute, info in schema["cls"].model_fields.items():
            aliases = list(dict.fromkeys([*_aliases(info), attribute]))
            key = next((name for name in aliases if name in properties), None)
            others = [name for name in aliases if name not in properties]
            if key is not None and others:
                refined = properties[key].get(EXTENSION, {})
                if isinstance(refined, dict):
                    properties[key][EXTENSION] = {"names": others, **refined}
        return json_schema


def _aliases(info: FieldInfo) -> list[str]:
    alias = info.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    return [name for name in (*choices, info.alias, info.serialization_alias) if isinstance(name, str)]
