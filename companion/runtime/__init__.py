"""The impure part of a table: host clock, journal, the single writer, feed and evidence."""
