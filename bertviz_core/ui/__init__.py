"""What pages are made of. The only part of the package that imports streamlit."""
