"""Exams: a hidden incident on the lab, participants who look for it, and what their answers are worth."""
