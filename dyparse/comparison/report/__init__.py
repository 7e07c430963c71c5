"""The report on a comparison: one HTML page, and the same numbers and figures as files. Start with
`write_report` in `page.py`. The page has text (`text.py`), tables (`tables.py`, `error_tables.py`),
figures (`score_figures.py`, `error_figures.py`, and `panels.py` for what they share) and a sentence
browser (`sentence_browser.py`); `export.py` makes CSV and JSON.
"""
