"""Results as text, pages and tables for people and programs."""
