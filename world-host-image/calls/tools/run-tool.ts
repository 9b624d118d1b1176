/**
 * Runs a tool: checks its input, runs its binding, checks the output. All of this is one transaction. A tool that
 * fails, or whose output does not fit its schema, has therefore changed nothing.
 */
import { cut } from '#domain/cut.ts';
import { limits } from '#domain/limits.ts';
import { givesTool, withheldTool } from '#domain/task-tools.ts';
import { linkedTool, type Row, type ToolContract } from '#language/contract.ts';
import { suggestName } from '#language/read/suggest.ts';
import { pause } from '#runtime/pause.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { Changes } from '#store/write/transaction.ts';
import { createAddresses } from '../../routes/addresses.ts';
import type { MetFault } from '../../session/faults.ts';
import { findLinked, underAlias } from '../../session/links.ts';
import type { Outgoing } from '../../session/outbox.ts';
import type { LoadedWorld, Session } from '../../session/session.ts';
import { beginTurn } from '../../session/session.ts';
import { createStoreAccess } from '../../session/store-access.ts';
import { measureAnswer } from '../answers/answerable.ts';
import {
  CallFailure,
  callErrorOf,
  errorOfRefusal,
  failForInput,
  failForOutput,
} from '../answers/failure.ts';
import { rowInInput, runConvention } from './convention.ts';
import { meetAsTool, refuseMet } from './faulted.ts';
import { runOperation } from './operation.ts';
import type { ToolContext } from './tool.ts';

const toolTimeoutMs = 60_000;
/** Maximum number of characters of an unknown tool's name in a message. */
const mostNameChars = 128;

/** Throws `CallFailure` for a tool that the session's task withholds. */
const checkGiven = ({ task }: Session, name: string): void => {
  const given = task?.tools ?? null;
  if (given === null || givesTool(given, name)) return;
  const message = withheldTool(name, given);
  throw new CallFailure({ code: 'forbidden', message, details: { tools: given } });
};

/** Returns the tool with a name. Throws `CallFailure` if the world has no such tool or the task withholds it. */
const findTool = (session: Session, name: string): ToolContract => {
  const { task, world } = session;
  const { contract } = world;
  const given = task?.tools ?? null;
  const tool = contract.tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) {
    checkGiven(session, name);
    return tool;
  }
  const names = given ?? contract.tools.map((candidate) => candidate.name);
  const hint = suggestName(name, names) ?? 'there is none';
  throw new CallFailure({
    code: 'unknown_tool',
    message: `the world has no tool "${cut(name, mostNameChars)}"; ${hint}`,
  });
};

const runBinding = async (context: ToolContext): Promise<unknown> => {
  const { binding } = context.tool;
  switch (binding.kind) {
    case 'convention':
      return runConvention(context, binding);
    case 'operation':
      return runOperation(context, binding.operation);
    case 'python':
    case 'typescript': {
      const result = await context.code.run({
        language: binding.kind,
        file: binding.file,
        function: binding.function,
        as: 'tool',
        input: context.input,
        access: createStoreAccess(context.session),
        timeoutMs: toolTimeoutMs,
      });
      if (!result.ok) throw new CallFailure(result.error);
      return result.value ?? null;
    }
  }
};

/** Bytes of JSON around the output, in an answer that contains nothing else. */
const bytesAround = JSON.stringify({ output: '' }).length - JSON.stringify('').length;

/**
 * Throws if an output is too large, or if the control plane would reject it. The caller runs this before the commit, so
 * an error rolls back the writes of the tool.
 */
const checkAnswer = (tool: ToolContract, output: unknown): void => {
  const { bytes = 0, fault } = measureAnswer({ output });
  const size = bytes - bytesAround;
  if (size > limits.callOutputBytes) {
    throw new CallFailure({
      code: 'too_large',
      message: `the output of ${tool.name} is ${size} bytes, more than the maximum of ${limits.callOutputBytes}; ask for less`,
    });
  }
  if (fault === undefined) return;
  const { code, message } = fault;
  throw new CallFailure({ code, message: `the output of ${tool.name} is not sent: ${message}` });
};

/** Returns where a tool is defined, in words for the author of the world. */
const sourceOf = ({ binding }: ToolContract): string => {
  switch (binding.kind) {
    case 'convention':
      return `the rows of ${binding.entity}`;
    case 'operation':
      return `the operation ${binding.operation} of connector.toml`;
    case 'python':
    case 'typescript':
      return `${binding.function} in ${binding.file}`;
  }
};

/**
 * Converts a refusal of a conventional tool to a `CallFailure` with the pointer to the refused row in the input.
 * Returns any other error unchanged.
 */
const placeRefusal = (error: unknown, { contract }: LoadedWorld, tool: ToolContract, input: Row) =>
  error instanceof StoreRefusal && tool.binding.kind === 'convention'
    ? new CallFailure(errorOfRefusal(error, rowInInput(contract, tool.binding, input)))
    : error;

export type RanTool = Changes & {
  output: unknown;
  outgoing: Outgoing;
  /** Declared faults that applied to the call; absent if the session's faults do not include tools. */
  faults?: readonly MetFault[];
};

/**
 * Returns the checked input, with the session's own API addresses replaced by the vendor's. Throws `CallFailure` if the
 * tool does not accept the input, or if the replacement makes it too large.
 */
const readInput = (session: Session, name: string, given: Row): Row => {
  const { address, formerAddresses: also, world } = session;
  failForInput(world.tools.input(name, given));
  const addresses =
    address === null ? undefined : createAddresses(world.contract, address, { also });
  if (addresses === undefined) return given;
  const input = addresses.restore(given, limits.callInputBytes) as Row | undefined;
  if (input === undefined) {
    const message = `the input would grow by more than ${limits.callInputBytes} bytes with the vendor's addresses; send less`;
    throw new CallFailure({ code: 'too_large', message });
  }
  if (input !== given) failForInput(world.tools.input(name, input));
  return input;
};

const carryOut = async (session: Session, tool: ToolContract, input: Row): Promise<RanTool> => {
  const { world, outbox } = session;
  const { name } = tool;
  const { contract, store, code } = world;
  try {
    const { value, ...changed } = await store.atomically(async () => {
      beginTurn(session);
      const output = await runBinding({ session, contract, store, code, tool, input });
      failForOutput({ name, source: sourceOf(tool) }, world.tools.output(name, output));
      checkAnswer(tool, output);
      return { output, outgoing: outbox.take() };
    });
    return { ...value, ...changed };
  } catch (error) {
    throw placeRefusal(error, world, tool, input);
  }
};

const runOwn = async (session: Session, name: string, given: Row): Promise<RanTool> => {
  const tool = findTool(session, name);
  const input = readInput(session, name, given);
  const met = meetAsTool(session, tool);
  if (met === undefined) return carryOut(session, tool, input);
  await refuseMet(session, tool, met);
  try {
    return { ...(await carryOut(session, tool, input)), faults: met.faults };
  } catch (error) {
    const failed = callErrorOf(error);
    throw failed === undefined ? error : new CallFailure(failed, met.faults);
  } finally {
    await pause(met.latencyMs);
  }
};

/** Runs a tool of a linked world on that world's session, and reports its changes under the alias. */
const runLinked = async (
  { alias, linked, rest }: NonNullable<ReturnType<typeof findLinked>>,
  given: Row,
): Promise<RanTool> => {
  const { changes, rows, ...ran } = await runOwn(linked, rest, given);
  return {
    ...ran,
    changes: underAlias(alias, changes),
    rows: rows.map((row) => ({ ...row, entity: linkedTool(alias, row.entity) })),
  };
};

/** Runs a tool. Throws `CallFailure` or `StoreRefusal`, and then nothing has changed. */
export const runTool = async (session: Session, name: string, given: Row): Promise<RanTool> => {
  const isOwn = session.world.contract.tools.some((tool) => tool.name === name);
  const found = isOwn ? undefined : findLinked(session, name);
  if (found === undefined) return runOwn(session, name, given);
  checkGiven(session, name);
  return runLinked(found, given);
};
