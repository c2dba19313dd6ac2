-- Chains are found by the names that they have. The lists of the last 30 days stay: the next one is judged by their sizes.

DROP TABLE chain_former_names;
