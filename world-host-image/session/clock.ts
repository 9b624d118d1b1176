/** The world's time: ISO 8601 in UTC to the second, as vendors write it. */
export const worldNow = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
