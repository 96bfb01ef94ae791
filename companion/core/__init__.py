"""Pure words and laws that every game shares. No clock, no file, no thread."""
