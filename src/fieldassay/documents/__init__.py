"""Files to words with places: loaders, OCR, layout."""
