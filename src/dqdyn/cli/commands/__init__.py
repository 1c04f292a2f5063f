"""The commands, one file each. A file here is imported, and so its command registered, when ``dqdyn`` starts."""
