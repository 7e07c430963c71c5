"""Names of precisions; dyparse.tensors.precision and dyparse.compiled have what they mean."""

TRAINING = ("auto", "float32", "mixed", "bfloat16")
PARSING = (*TRAINING, "int8")


def require_precision(precision: str, option: str, known: tuple[str, ...] = TRAINING) -> None:
    """ValueError if there is no precision of this name."""
    if precision not in known:
        raise ValueError(f"{option} is {precision!r}, expected one of {', '.join(known)}")
