"""Torch building blocks that know neither sentences nor transition systems: `dropout` whose masks
follow from keys and not from a generator, `precision` (which parts compute in bfloat16), `transfer`
(all arrays of a batch to or from the device in one copy), `optimizer` (`adamw` over parameter
groups, clipping) and `moving_average` (averaged weights). Start with `dropout`: why training gives
the same model however it is split or resumed.
"""
