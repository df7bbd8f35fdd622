"""The doors: one public function per verb, its command line, the pytest plugin."""
