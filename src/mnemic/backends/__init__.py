"""The outside world, each part behind its port; none knows another."""
