"""One kit that every adapter passes, on the framework's own offline model.

``scripts`` has the runs, as what a model answers call by call; ``harness`` is what a framework has to give;
``checks`` are the questions; one module a framework builds its agent. ``python -m
conformance NAME`` asks them all where the framework is installed.
"""
