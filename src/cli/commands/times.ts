/** Options of commands that take a time range: `--from`, `--to` and `--last`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { own } from '#domain/json.ts';

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses an age such as `30m`, `12h`, `7d`, `4w`. Returns the time that long ago. */
export const parseAgo = (text: string): string => {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const ms = own(unitMs, unit);
  if (count !== undefined && ms !== undefined) {
    return new Date(Date.now() - Number(count) * ms).toISOString();
  }
  throw new InvalidArgumentError('The value is not a length of time such as 30m, 12h, 7d or 4w.');
};

export type TimeOptions = { from?: string; to?: string; last?: string };

/** Adds `--from`, `--to` and `--last`. */
export const addTimes = (command: Command): Command =>
  command
    .option('--from <time>', 'only entries at or after this time: ISO 8601 with an offset')
    .option('--to <time>', 'only entries before this time')
    .addOption(
      new Option(
        '--last <length>',
        'only entries of the last 12h, 7d, …: a number with m, h, d or w',
      )
        .argParser(parseAgo)
        .conflicts('from'),
    );

/** Returns the beginning of the time range that the options set. */
export const fromOf = ({ from, last }: TimeOptions): string | undefined => from ?? last;
