"""Archives and streams on Apache Spark."""
