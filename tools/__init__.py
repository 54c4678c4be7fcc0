"""What writes parts of the package: run by hand or by `./dev`, and held by tests to what it would write now."""
