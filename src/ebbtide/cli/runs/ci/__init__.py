"""The result of a check in the formats that CI systems read."""
