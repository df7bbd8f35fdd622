"""The spec language, its presets and drafts, and the compiled plan."""
