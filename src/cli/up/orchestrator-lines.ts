/** Turns the orchestrator's output lines into messages of `svc up` for its user. */
import type { ConfigurationLine, ProgramLine } from '#wire/program-lines/lines.ts';

type Tell = (message: string) => void;

type Configuration = ConfigurationLine['configuration'];

/** Formats a mistake in the pools file: line, problem and hint. */
const describeMistake = ({ line, message, hint }: Configuration['problems'][number]): string =>
  `${line === undefined ? '' : `line ${line}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;

/** Returns a function that reports each read of the pools file, except a first one without mistakes. */
const tellOfPools = (tell: Tell) => {
  let wasRead = false;
  return ({ file, problems, pools }: Configuration): void => {
    const mistakes = problems.map(describeMistake).join('; ');
    if (pools === undefined) tell(`${file} is not right, so nothing of it is taken: ${mistakes}`);
    else if (wasRead) tell(`${file} is taken as it is now; pools: ${pools.join(', ')}`);
    wasRead = true;
  };
};

/**
 * Returns a handler of the orchestrator's lines, across its restarts. The handler returns true for the line that means
 * that it is up.
 */
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
