"""Records to evidence and a result: inputs, validation, the engine, shards, explanation, provenance."""
