/** The world's time, as its host told it last: what is past and what is to come in a world goes by it, not by ours. */
let told: Date | undefined;

/** Notes what the host told. */
export const setWorldNow = (now: string): void => {
  told = new Date(now);
};

/** Returns the world's time; ours where the host told none. */
export const worldNow = (): Date => told ?? new Date();
