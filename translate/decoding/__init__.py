"""Searches over any model that can take one step: beams and samples. Imports torch and nothing else of ours."""
