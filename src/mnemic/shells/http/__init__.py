"""The HTTP server: one endpoint for each verb of the library, made from the verbs' own signatures."""
