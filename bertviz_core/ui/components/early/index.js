// Draws nothing: see shell.py.
export default function () {}
