Matrix fragments.
