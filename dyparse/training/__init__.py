"""Training one parser. Start with `step.py`, which shows the whole idea on one screen. `session.py`
holds what a step changes, `loop.py` repeats it over epochs, and `run.py` runs a training from
options to results; around them are batches, the replay buffer, several processes, lack of memory
and resuming.
"""
