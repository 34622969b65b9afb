"""How long an address may be: for web sockets, which say it again, and for nginx, which reads it first."""

LONGEST_QUERY = 1 << 16  # characters after the question mark; two long sentences, packed, have 50,000 at most
LONGEST_ADDRESS = LONGEST_QUERY + (1 << 10)  # bytes, with the method, the page and the protocol
