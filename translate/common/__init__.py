"""What every package needs and none owns: cores, the ends of commands, files that travel with the package, tables.

It imports nothing else of ours. Read `command.py` first.
"""
