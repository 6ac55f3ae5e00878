"""Tables larger than memory, and tables elsewhere: stores of chunks, solving by tiles, files on web servers."""
