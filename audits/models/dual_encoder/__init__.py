"""Dual encoders under audit: an image and a caption each become a unit vector, and their cosine is the score."""
