"""HTTP for the servers of this package: limits on requests, headers of responses, sockets; nothing of sentences."""
