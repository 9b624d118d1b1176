/**
 * Time of the world, as its host last reported it. It decides what is past and future in a world, not the clock of
 * this machine.
 */
let reported: Date | undefined;

/** Sets the time that the host reported. */
export const setWorldNow = (now: string): void => {
  reported = new Date(now);
};

/** Returns the world's time; that of this machine if the host reported none. */
export const worldNow = (): Date => reported ?? new Date();
