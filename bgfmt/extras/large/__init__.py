"""Tables larger than memory, and tables elsewhere: stores of chunks, solving them tile by tile, files on web servers."""
