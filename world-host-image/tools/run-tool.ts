/**
 * Runs a tool: checks its input, lets what it is bound to answer, checks the output. All of it is one
 * transaction, so a tool that fails, or answers what its schema does not allow, has changed nothing.
 */
import type { ChangeCounts } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import type { Row, ToolContract } from '#language/contract.ts';
import { CallFailure, failForProblems } from '../calls/failure.ts';
import type { Delivery } from '../session/outbox.ts';
import type { LoadedWorld, Session } from '../session/session.ts';
import { createStoreAccess } from '../session/store-access.ts';
import { beginTurn } from '../session/turn.ts';
import { runConvention } from './convention.ts';
import { runOperation } from './operation.ts';
import type { ToolContext } from './tool.ts';

const toolTimeoutMs = 60_000;

const findTool = ({ contract }: LoadedWorld, name: string): ToolContract => {
  const tool = contract.tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const names = contract.tools.map((candidate) => candidate.name).join(', ') || 'none';
  throw new CallFailure({
    code: 'unknown_tool',
    message: `the world has no tool "${name}"; it has ${names}`,
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

const checkSize = (tool: ToolContract, output: unknown): void => {
  const size = Buffer.byteLength(JSON.stringify(output));
  if (size <= limits.callOutputBytes) return;
  throw new CallFailure({
    code: 'too_large',
    message: `the output of ${tool.name} is ${size} bytes, more than ${limits.callOutputBytes}; ask for less`,
  });
};

/** Throws `CallFailure` or `StoreRefusal`, and then nothing has changed. */
export const runTool = async (
  session: Session,
  name: string,
  input: Row,
): Promise<{ output: unknown; changes: ChangeCounts; deliveries: Delivery[] }> => {
  const { world, outbox } = session;
  const tool = findTool(world, name);
  failForProblems('invalid_input', 'the input', world.tools.input(name, input));
  const { contract, store, code } = world;
  const { value, changes } = await store.atomically(async () => {
    beginTurn(session);
    const output = await runBinding({ session, contract, store, code, tool, input });
    failForProblems('invalid_output', `what ${name} returned`, world.tools.output(name, output));
    checkSize(tool, output);
    return { output, deliveries: outbox.take() };
  });
  return { ...value, changes };
};
