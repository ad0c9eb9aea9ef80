"""Tests of the exports: every form read back by something that did not write it."""
