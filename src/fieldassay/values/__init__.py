"""One value beside another: types, comparators, aligners, checks, diagnosis."""
