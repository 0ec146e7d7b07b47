"""Addresses and names that look like them, which are no words of a language."""

import re

# A name with a full stop in it is an address if it ends like one: a forgotten space makes "here.he", too.
_ENDINGS = (
    "com|org|net|edu|gov|io|fr|uk|eu|ch|info|biz|dev|py|js|ts|md|txt|pdf|jpe?g|png|gif|svg|csv|tsv|docx?|xlsx?|pptx?|odt|"
    "zip|gz|html?|css|json|xml|ya?ml|toml|ini|exe|mp3|mp4|java|cpp|rs|sh"
)
ADDRESS = re.compile(  # of a mailbox, a page or a file; a name or a subject as in messages; R&D
    r"(?<![\w@#.+&-])(?:[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+|(?i:https?://|www\.)[^\s\"“”«»()\[\]]*[\w/]"
    rf"|[\w-]+(?:\.[\w-]+)*\.(?i:{_ENDINGS})(?![\w-])"
    r"|[@#][^\W\d]\w+|(?:[A-Z\d]+&[A-Z\d]+|\w{1,3}&\w{1,3})(?![\w&]))"
)
