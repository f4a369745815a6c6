"""One protocol, a client for servers with the OpenAI chat API, and a script to test with."""
