"""YAML that is plain data: numbers, text, lists and mappings, each written out where it is.

For files of unknown origin. The rest of YAML can name objects, grow without bound (aliases), or
mean two things (a key given twice).
"""

from typing import Any, ClassVar

import yaml

INT, *PLAIN = (
    f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null", "str", "seq", "map")
)
MERGE = "tag:yaml.org,2002:merge"
LARGEST = 2**63 - 1
MOST_DEPTH = 20
# The last three: text that is tagged as a number, and is none.
NO_YAML = (yaml.YAMLError, ValueError, LookupError, ArithmeticError)


class PlainLoader(yaml.SafeLoader):
    """Refuses everything that is not plain data."""

    # None stands for every other tag, which is refused
    yaml_constructors: ClassVar[dict[Any, Any]] = {
        tag: yaml.SafeLoader.yaml_constructors[tag] for tag in (*PLAIN, None)
    }

    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # yaml's stubs leave it so
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise yaml.YAMLError("an anchor or alias, expected values written out")
        if self.depth == MOST_DEPTH:
            raise yaml.YAMLError(f"lists or mappings within each other, more than {MOST_DEPTH}")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def flatten_mapping(self, node: Any) -> None:
        if any(key.tag == MERGE for key, _ in node.value):
            raise yaml.YAMLError("a mapping merged into another, expected keys written out")

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - yaml's signature
        mapping = super().construct_mapping(node, deep)
        if not all(isinstance(key, str) for key in mapping):
            raise yaml.YAMLError("a key that is not text")
        if len(mapping) < len(node.value):
            raise yaml.YAMLError("a key given twice")
        return mapping

    def construct_yaml_int(self, node: Any) -> int:
        number = int(super().construct_yaml_int(node))
        if abs(number) > LARGEST:
            raise yaml.YAMLError(f"a number beyond {LARGEST}")
        return number


PlainLoader.add_constructor(INT, PlainLoader.construct_yaml_int)


def load_plain_yaml(content: bytes) -> Any:
    """The data in YAML; ValueError says why it is none."""
    try:
        return yaml.load(content, PlainLoader)
    except NO_YAML as error:
        raise ValueError(f"not plain YAML: {error}") from error
