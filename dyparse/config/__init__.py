"""Configuration: from names and options to checked objects, and back to names.

Every choice, such as a transition system or a loss, is a frozen dataclass; its fields are its
options. `choices` finds the dataclass of a name, in the package or outside, `build` makes objects
of checked options and describes them as data, `options` has the schemas of training and
evaluation, `help_text` explains them, and `hydra_errors` turns what Hydra finds wrong into one
message. Start with `choices`.
"""
