"""The three ways to ask: graded questions, pairs in both orders, questions made from the prompt."""
