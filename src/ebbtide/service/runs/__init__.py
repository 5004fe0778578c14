"""All runs of a service: their events on disk, their supervisors in memory, and what is listed of them."""
