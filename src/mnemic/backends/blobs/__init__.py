"""Where files are kept: a folder of this machine, or an object store that speaks S3."""
