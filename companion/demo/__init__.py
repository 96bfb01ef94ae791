"""Simulated people who play by themselves: real wire, real frames, real pages, no short cuts."""
