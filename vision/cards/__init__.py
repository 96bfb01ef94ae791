"""Any card by one photograph of it: found on a table, named, or said to be unknown."""
