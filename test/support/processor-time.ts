/** What work costs, on a machine that others use as well: the clock would count their time, too. */

/** Milliseconds of processor time that this process has had. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
