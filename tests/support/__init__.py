"""What tests share: the programmable site on loopback. No stand-ins for our own code."""
