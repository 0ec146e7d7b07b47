"""Models for other runtimes: what a directory of one holds, and how one is made."""
