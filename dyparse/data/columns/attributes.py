"""Attributes in MISC, such as `SpaceAfter=No|HeadConfidence=0.97`."""

HEAD_CONFIDENCE, LABEL_CONFIDENCE = "HeadConfidence", "LabelConfidence"


def attribute(misc: str, name: str) -> str | None:
    """The value of an attribute; None if there is none of this name."""
    found = (part.partition("=") for part in misc.split("|"))
    return next((value for key, sign, value in found if key == name and sign), None)


def probability(misc: str, name: str) -> float | None:
    """The value of an attribute as a number from 0 to 1; None if it has none."""
    try:
        value = float(attribute(misc, name) or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None
