"""`python -m ebbtide`."""

from ebbtide.cli.entry import main

main()
