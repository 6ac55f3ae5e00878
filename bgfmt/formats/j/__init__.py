"""J component files."""
