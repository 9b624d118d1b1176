/**
 * How whoever starts the program drives it: one JSON object a line. Commands come on standard input, each with an `id`;
 * answers, events and checkpoints go to standard output. When standard input ends, so does the program, and nothing is
 * left of it.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Ajv, type ValidateFunction } from 'ajv';
import { AppError } from '#domain/error.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import { type Static, Type } from '#wire/type.ts';
import type { BrowserProgram } from '../program.ts';
import type { Checkpoint } from '../watch/checkpoint.ts';

const id = Type.Integer({ minimum: 0 });
const Reach = Type.Object({
  origin: Type.String({ pattern: '^https?://[^/]+$' }),
  connectTo: Type.Optional(
    Type.Object({ host: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }),
  ),
});

/** What can be asked for. */
export const BrowserCommand = Type.Union([
  Type.Object({
    id,
    do: Type.Literal('assign'),
    /** The page that the browser opens with. */
    entry: Type.String(),
    /** All that the browser may reach. */
    reach: Type.Array(Reach, { minItems: 1 }),
    /** A checkpoint as it was told; the browser goes on from it. */
    checkpoint: Type.Optional(Type.Unsafe<Checkpoint>({ type: 'object' })),
  }),
  Type.Object({ id, do: Type.Literal('reset'), entry: Type.Optional(Type.String()) }),
  Type.Object({ id, do: Type.Literal('checkpoint') }),
  Type.Object({
    id,
    do: Type.Literal('screenshot'),
    format: Type.Optional(Type.Union([Type.Literal('png'), Type.Literal('jpeg')])),
    fullPage: Type.Optional(Type.Boolean()),
  }),
  Type.Object({ id, do: Type.Literal('view_link'), isReadOnly: Type.Boolean() }),
  Type.Object({ id, do: Type.Literal('cdp_link') }),
  Type.Object({ id, do: Type.Literal('status') }),
  Type.Object({ id, do: Type.Literal('end') }),
]);
export type BrowserCommand = Static<typeof BrowserCommand>;

let check: ValidateFunction<BrowserCommand> | undefined;

const read = (text: string): BrowserCommand => {
  check ??= new Ajv({ strict: false }).compile<BrowserCommand>(BrowserCommand);
  const value: unknown = JSON.parse(text);
  if (check(value)) return value;
  throw new AppError('invalid', 'a line on standard input is no command of a browser program');
};

/** Carries a command out and resolves with what is answered. */
const carryOut = async (program: BrowserProgram, command: BrowserCommand): Promise<unknown> => {
  switch (command.do) {
    case 'assign':
      return program.assign(command);
    case 'reset':
      return program.reset(command.entry);
    case 'checkpoint':
      return program.checkpoint();
    case 'screenshot': {
      const picture = await program.screenshot(command);
      return { format: command.format ?? 'png', base64: picture.toString('base64') };
    }
    case 'view_link':
      return { url: program.viewLink(command) };
    case 'cdp_link':
      return { url: program.cdpLink() };
    case 'status':
      return program.status();
    case 'end':
      return program.end();
  }
};

export type LinesOptions = {
  program: BrowserProgram;
  input: Readable;
  say(line: Record<string, unknown>): void;
};

/** Reads commands until there are no more; each is answered when it has been carried out. */
export const serveLines = async ({ program, input, say }: LinesOptions): Promise<void> => {
  for await (const text of createInterface({ input })) {
    const command = read(text);
    carryOut(program, command).then(
      (answer) => say({ id: command.id, answer: answer ?? null }),
      (error: unknown) => say({ id: command.id, error: toErrorAnswer(error).body }),
    );
  }
};
