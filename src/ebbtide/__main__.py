"""`python -m ebbtide`."""

from ebbtide.cli.app import main

main()
