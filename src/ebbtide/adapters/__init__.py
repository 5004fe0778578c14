"""One module for each framework: the line that puts a run of it under watch.

Each is imported by its own name, ``ebbtide.adapters.langchain``, and imports its framework then. All share
`ebbtide.adapters.run_watch`, and pass the checks of `conformance`.
"""
