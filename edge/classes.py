"""Where a class is answered, beside the app: known to whoever lets requests through, and to what answers them."""

from __future__ import annotations

import re

JOIN, LEAD, FILES = "join", "lead", "rooms"  # the pages of phones and of projectors, and what these load
LINK = "go"  # below JOIN: where a teacher's link leads first
LARGEST_SAID = 1_000  # bytes of what such a page sends
SAID = re.compile(rf"/({JOIN}|{LEAD})/\w{{4}}/(enter|answer|act)$")  # where it sends that
