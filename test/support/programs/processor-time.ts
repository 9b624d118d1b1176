/**
 * Measures the processor time of work, since on a shared machine the clock would include the time of other programs.
 */

/** Returns the processor time that this process has used, in milliseconds. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
