"""The `dyparse` command: one file per subcommand, with its arguments beside what it runs.

`main.py` lists the subcommands; start there. To add one, write `dyparse/cli/<name>.py` with
`register(commands)`, which declares the arguments, and `run(options)`, which returns the exit
status; then add it to the list in `main.py`. Arguments that several commands share are in
`arguments.py`. A command imports torch, numba and matplotlib inside `run`, not at the top: all
files are imported for `dyparse --help`, which should take no time.
"""
