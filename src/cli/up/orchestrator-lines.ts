/** The lines of the orchestrator that `svc up` passes on to its user, in words for people. */
import type { ConfigurationLine, ProgramLine } from '#wire/program-lines/lines.ts';

type Tell = (message: string) => void;

type Configuration = ConfigurationLine['configuration'];

/** Where a mistake is, what it is, and the way out. */
const describeMistake = ({ line, message, hint }: Configuration['problems'][number]): string =>
  `${line === undefined ? '' : `line ${line}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;

/** Tells of a file of pools whenever it was read: nothing the first time that it is right. */
const tellOfPools = (tell: Tell) => {
  let wasRead = false;
  return ({ file, problems, pools }: Configuration): void => {
    const mistakes = problems.map(describeMistake).join('; ');
    if (pools === undefined) tell(`${file} is not right, so nothing of it is taken: ${mistakes}`);
    else if (wasRead) tell(`${file} is taken as it is now; pools: ${pools.join(', ')}`);
    wasRead = true;
  };
};

/** Hears the orchestrator's lines, over its restarts; true for the one that says that it works. */
export const hearOrchestrator = (tell: Tell): ((line: ProgramLine) => boolean) => {
  const hearOfPools = tellOfPools(tell);
  let isolation: string | undefined;
  return (line) => {
    if ('launches' in line) {
      const { pool, reason } = line.launches;
      if (reason !== undefined) tell(`no new world hosts in pool "${pool}" for now: ${reason}`);
    } else if ('configuration' in line) hearOfPools(line.configuration);
    else if ('isolation' in line && line.isolation !== isolation) {
      isolation = line.isolation;
      tell(isolation);
    }
    return 'leading' in line && line.leading;
  };
};
