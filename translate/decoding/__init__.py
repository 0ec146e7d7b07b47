"""Search over any model that can take one step: greedy and beam. Imports torch and nothing else of ours."""
