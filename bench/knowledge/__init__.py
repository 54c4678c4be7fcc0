"""What knowledge bases are measured with."""
