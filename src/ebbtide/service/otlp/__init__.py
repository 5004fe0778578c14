"""The receiver of OTLP: exports of spans and of log records in, events of runs out."""
