"""Code shared by tests: tiny parsers, made-up results, servers and strategies."""
