"""The second road: recurrences that share no arithmetic with the solver."""
