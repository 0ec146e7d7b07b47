"""What must come through a translation as it is: tags, addresses, placeholders, quantities, terms.

They are found (`spans.py`, `terminology.py`), hidden (`protect.py`) and put back (`placement.py`, `tags.py`).
Read `protect.py` first.
"""
