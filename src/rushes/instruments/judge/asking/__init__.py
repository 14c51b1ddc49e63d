"""What is asked of a judge, who answers, and what was answered: nothing is asked twice."""
