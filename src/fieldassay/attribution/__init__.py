"""The stage a wrong value is due to: reading, model, decoding, post-processing."""
