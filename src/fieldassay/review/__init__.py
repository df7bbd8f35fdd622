"""People make and correct gold: sheets, log, web pages, promotion, inter-annotator agreement."""
