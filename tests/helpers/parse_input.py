"""Sentences to parse: an odd one, a malformed one, and one that kills the process."""

from __future__ import annotations

ODD = (  # comments, a range, an empty node
    "# free\n# sent_id = odd\n1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tVamos\t_\tVERB\t_\t_\t_\t_\t_\t_\n2\tnos\t_\tPRON\t_\t_\tx\ty\tz\tA=B\n"
    "2.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
UNTAGGED = ODD.replace("VERB", "_").replace("PRON", "_")
BAD = "# sent_id = bad\n1\tonly three\tcolumns\n\n"
DEADLY = "1\tDEADLY\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
DIES_OF_DEADLY = """
import os
import dyparse.parsing.reading as reading
check = reading.sentence_of
def deadly(block, *, input_format):
    if b"DEADLY" in b"".join(block.lines):
        os.kill(os.getpid(), 9)
    return check(block, input_format=input_format)
reading.sentence_of = deadly
"""  # a sitecustomize.py
