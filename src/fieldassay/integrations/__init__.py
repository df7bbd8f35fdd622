"""Doors into other frameworks: one record judged inside of theirs, each module for one of them."""
