"""Headers, cookies and refusals, before the app is asked."""
