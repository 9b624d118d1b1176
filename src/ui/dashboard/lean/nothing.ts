/**
 * Empty replacements for packages that Plot imports but no chart of a dashboard uses: maps, axes of D3, random numbers.
 */

/** Returns a stand-in for the two projections that Plot creates when it is loaded. Only maps use them. */
export const geoTransform = (methods: object): object => methods;
