"""Systems by metrics over shared prompts: which is better?"""
