/**
 * Lets the process that started the program control it by lines, each one JSON object. Commands come on standard input,
 * each with an `id`; answers, events and checkpoints go to standard output. When standard input ends, the program ends
 * and leaves nothing behind.
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

/** Schema of the commands. */
export const BrowserCommand = Type.Union([
  Type.Object({
    id,
    do: Type.Literal('assign'),
    /** Address of the page that the browser opens first. */
    entry: Type.String(),
    /** Complete list of the origins that the browser may reach. */
    reach: Type.Array(Reach, { minItems: 1 }),
    /** Checkpoint as an earlier browser reported it; this browser resumes from it. */
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
  throw new AppError('invalid', 'a line on standard input is not a command of a browser program');
};

/** Executes a command and resolves with its answer. */
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

/** Reads commands until the input ends. Each is answered when it has been executed, without holding up the next. */
export const serveLines = async ({ program, input, say }: LinesOptions): Promise<void> => {
  for await (const text of createInterface({ input })) {
    const command = read(text);
    carryOut(program, command).then(
      (answer) => say({ id: command.id, answer: answer ?? null }),
      (error: unknown) => say({ id: command.id, error: toErrorAnswer(error).body }),
    );
  }
};
