"""Tools for models: what the service and the decision log know, over the Model Context Protocol."""
