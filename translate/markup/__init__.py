"""Keep parts of a text unchanged in its translation: tags, addresses, placeholders, quantities, terms.

They are found (`spans.py`, `terminology.py`), hidden (`protect.py`) and put back (`placement.py`, `tags.py`).
Read `protect.py` first.
"""
