"""The lab's formats of files."""
