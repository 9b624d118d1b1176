/**
 * Prints the demo: numbered steps, the findings of each step, whether the step passed, and how long it took. A long
 * step shows its progress. A step with a wrong result ends the demo.
 */
import { inspect, isDeepStrictEqual } from 'node:util';
import { AppError } from '#domain/error.ts';
import type { Context } from '../terminal/context.ts';
import { formatDuration } from '../terminal/print.ts';
import { type ShowStep, withProgress } from '../terminal/progress.ts';

export type Step = {
  /** Writes lines below the step's title. */
  note(text: string): void;
  /** Writes dimmed lines below the step's title, for details. */
  aside(text: string): void;
  /** Sets the progress text of the current step. */
  showStep: ShowStep;
};

export type Timeline = {
  /** Runs a step and returns its result. An error is marked in the output and rethrown. */
  step<Value>(title: string, work: (step: Step) => Promise<Value>): Promise<Value>;
  /** Writes a line outside of any step. */
  line(text: string): void;
};

const indent = '      ';

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : indent + line))
    .join('\n');

/** Creates a timeline on standard output. */
export const createTimeline = ({ out, colors }: Context): Timeline => {
  let count = 0;
  const write = (text: string): void => out.write(`${text}\n`);
  return {
    line: write,
    async step(title, work) {
      count += 1;
      const startedAt = performance.now();
      const took = (): string => formatDuration(performance.now() - startedAt);
      write(`\n${colors.dim(String(count).padStart(3))}  ${colors.bold(title)}`);
      try {
        const value = await withProgress({ out, indent, step: title }, ({ showStep, print }) =>
          work({
            note: (text) => print(`${indented(text)}\n`),
            aside: (text) => print(`${indented(text).replace(/^.+$/gm, colors.dim)}\n`),
            showStep,
          }),
        );
        write(`     ${colors.green('✓')} ${colors.dim(took())}`);
        return value;
      } catch (error) {
        write(`     ${colors.red('✗')} ${colors.dim(took())}`);
        throw error;
      }
    },
  };
};

const show = (value: unknown): string =>
  inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200 });

/** Throws `conflict` with both values if they differ. */
export const expectEqual = (what: string, found: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(found, expected)) return;
  throw new AppError('conflict', `${what}: expected ${show(expected)}, found ${show(found)}`);
};

/** Throws `conflict` with the value if the condition is false. */
export const expectThat = (what: string, holds: boolean, found: unknown): void => {
  if (!holds) throw new AppError('conflict', `${what}: not as expected, found ${show(found)}`);
};

/** Returns the value. Throws `conflict` if it is undefined. */
export const expectSome = <Value>(what: string, found: Value | null | undefined): Value => {
  if (found === null || found === undefined) {
    throw new AppError('conflict', `${what}: expected a value, found none`);
  }
  return found;
};
