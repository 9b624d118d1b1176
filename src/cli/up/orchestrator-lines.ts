/** Turns the orchestrator's output lines into messages of `svc up` for its user. */
import type { ConfigurationLine, ProgramLine } from '#wire/program-lines/lines.ts';

type ShowStep = (message: string) => void;

type Configuration = ConfigurationLine['configuration'];

/** Formats a mistake in the pools file with its line, problem and hint. */
const describeMistake = ({ line, message, hint }: Configuration['problems'][number]): string =>
  `${line === undefined ? '' : `line ${line}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;

/** Returns a function that reports each reading of the pools file. A first reading without mistakes is not reported. */
const showPools = (showStep: ShowStep) => {
  let wasRead = false;
  return ({ file, problems, pools }: Configuration): void => {
    const mistakes = problems.map(describeMistake).join('; ');
    if (pools === undefined)
      showStep(`${file} has mistakes, so its changes are not applied: ${mistakes}`);
    else if (wasRead) showStep(`${file} is applied; pools: ${pools.join(', ')}`);
    wasRead = true;
  };
};

/**
 * Returns a handler of the orchestrator's lines, which is used across restarts of the orchestrator. The handler returns
 * true for the line which means that the orchestrator is up.
 */
export const hearOrchestrator = (showStep: ShowStep): ((line: ProgramLine) => boolean) => {
  const hearPools = showPools(showStep);
  let isolation: string | undefined;
  return (line) => {
    if ('launches' in line) {
      const { pool, reason } = line.launches;
      if (reason !== undefined)
        showStep(`the pool "${pool}" launches no world hosts for now: ${reason}`);
    } else if ('configuration' in line) hearPools(line.configuration);
    else if ('isolation' in line && line.isolation !== isolation) {
      isolation = line.isolation;
      showStep(isolation);
    }
    return 'leading' in line && line.leading;
  };
};
