"""Translate many files, by processes of this machine or by Ray on many: read `job.py` first."""
