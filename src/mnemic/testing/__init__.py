"""Contract suites and fakes that outside backends can import."""
