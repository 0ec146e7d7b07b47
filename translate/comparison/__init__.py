"""Training runs side by side: which belong together, what is measured of each, the table and the picture."""
