"""Evaluators of attacks on a model: planted instructions, jailbreaks, leaked system prompts, and what it refuses."""
