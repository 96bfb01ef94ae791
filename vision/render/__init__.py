"""Pictures of a table that never was, with the truth about them: for the demo, the tests and training."""
