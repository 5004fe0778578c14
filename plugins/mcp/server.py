"""Offers the tools of Ebbtide over standard input and output: what the bundle starts."""

import sys

from ebbtide.cli.app import main

if __name__ == "__main__":
    sys.argv = ["ebbtide", "mcp"]
    main()
