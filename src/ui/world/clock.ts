/**
 * Time of the world, as its host last reported it. In a world, this time decides what is past and future, not the clock
 * of this machine.
 */
let reported: Date | undefined;

/** Sets the time that the host reported. */
export const setWorldNow = (now: string): void => {
  reported = new Date(now);
};

/** Returns the world's time. If the host reported none, returns the time of this machine. */
export const worldNow = (): Date => reported ?? new Date();
