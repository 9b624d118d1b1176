/** In the place of packages that Plot asks for and that no chart of a dashboard uses: maps, axes of D3, chance. */

/** Plot makes two projections when it is loaded, which only maps use. */
export const geoTransform = (methods: object): object => methods;
