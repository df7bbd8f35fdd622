"""Documents to predictions: strategies, endpoints with journal and prices, systems."""
