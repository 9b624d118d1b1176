/**
 * What the orchestrator says on its standard output, one JSON object a line, and what of it the user of
 * `svc up` is told.
 */

type Say = (message: string) => void;

/** What the orchestrator says of a file of pools; there are no `pools` when it was refused. */
type Configuration = {
  file: string;
  problems: { line?: number; message: string; hint?: string }[];
  pools?: string[];
};

/** Where a mistake is, what it is, and the way out. */
const describeMistake = ({ line, message, hint }: Configuration['problems'][number]): string =>
  `${line === undefined ? '' : `line ${line}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;

/** What to say of a file of pools whenever it was read: nothing the first time that it is right. */
const tellOfPools = (say: Say) => {
  let wasRead = false;
  return ({ file, problems, pools }: Configuration): void => {
    const mistakes = problems.map(describeMistake).join('; ');
    if (pools === undefined) say(`${file} is not right, so nothing of it is taken: ${mistakes}`);
    else if (wasRead) say(`${file} is taken as it is now; pools: ${pools.join(', ')}`);
    wasRead = true;
  };
};

/** Hears the orchestrator's lines; true for the one that says that it works. */
export const hearOrchestrator = (say: Say): ((line: Record<string, unknown>) => boolean) => {
  const hearOfPools = tellOfPools(say);
  let isolation: unknown;
  return (line: Record<string, unknown>): boolean => {
    const { pool, reason } = (line.launches ?? {}) as { pool?: unknown; reason?: unknown };
    if (typeof reason === 'string') say(`no new world hosts in pool "${pool}" for now: ${reason}`);
    if (line.configuration !== undefined) hearOfPools(line.configuration as Configuration);
    if (typeof line.isolation === 'string' && line.isolation !== isolation) say(line.isolation);
    isolation = line.isolation ?? isolation;
    return line.leading === true;
  };
};
