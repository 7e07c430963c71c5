"""Many runs, side by side: `dyparse compare` trains every cell of a grid of systems, explorations,
losses, treebanks and seeds, and asks whether dynamic oracles help. Start with `grid.py` (the cells)
and `run_grid.py` (training them in parallel); `groups.py` collects finished runs, `statistics.py`
compares them with the tests of `significance.py` and the counts of `error_rates.py`. `report/`
presents the result as a page, `summary.py` on the terminal; `settings_table.py` lists runs of
different settings by what differs. `file_scores.py` scores and compares parsed files of any parser,
`file_tables.py` shows the result.
"""
