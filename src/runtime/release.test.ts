import { expect, it } from 'vitest';
import { describeError } from '#domain/error.ts';
import { undoStart } from './release.ts';

it('a failed start releases everything it made, and reports failures of releases', async () => {
  const released: string[] = [];
  const reported: string[] = [];
  const made = new AsyncDisposableStack();
  const make = (name: string, fails = false): void =>
    made.defer(async () => {
      released.push(name);
      if (fails) throw new Error(`${name} cannot be released`);
    });
  make('first');
  make('second', true);
  make('third', true);
  make('fourth');
  const report = (failure: unknown) => void reported.push(describeError(failure));
  const error = await undoStart(new Error('the start failed'), made, report);
  expect(error).toEqual(new Error('the start failed'));
  expect(released).toEqual(['fourth', 'third', 'second', 'first']);
  expect(reported).toEqual(['second cannot be released; third cannot be released']);
});
