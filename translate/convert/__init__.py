"""The models of others as model directories of ours: `python -m translate.convert from=PATH`."""
