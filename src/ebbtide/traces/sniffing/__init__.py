"""Which format a document is in, told by its first records and without loading what reads them."""
