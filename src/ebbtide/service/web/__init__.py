"""The HTTP side of the service: one module a part of the API, registered in `app`."""
