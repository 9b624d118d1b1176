/**
 * Writes rows for the page without a route of the world: with the world's conventional tool if there is one, otherwise
 * directly, under the same rules of the contract. If a write is rejected, the error lists every invalid field.
 */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { EntityContract, Row, ToolBinding, ToolContract } from '#language/contract.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { Changes } from '#store/write/transaction.ts';
import { callErrorOf } from '../../calls/answers/failure.ts';
import { runConvention } from '../../calls/tools/convention.ts';
import { type RanTool, runTool } from '../../calls/tools/run-tool.ts';
import { hasField } from '../../routes/field-types.ts';
import type { Outgoing } from '../../session/outbox.ts';
import { beginTurn, type Session } from '../../session/session.ts';
import { faultsOf, type RowFault } from './problems.ts';

export type WriteVerb = 'create' | 'update' | 'delete';

export type WriteRequest = {
  verb: WriteVerb;
  entity: EntityContract;
  /** Primary key of the row; empty for a new row. */
  key: Row;
  /** Fields of a new row, or the fields to change. */
  fields: Row;
};

/** Result of a write, and the name of the tool that wrote the row; null if no tool did. */
export type Written = Changes & { row: unknown; outgoing: Outgoing; tool: string | null };

export class WriteRefused extends AppError {
  readonly faults: readonly RowFault[];
  readonly tool: string | null;

  constructor(error: AppError, faults: readonly RowFault[], tool: string | null) {
    super(error.code, error.message, { cause: error });
    this.faults = faults;
    this.tool = tool;
  }
}

type Convention = Extract<ToolBinding, { kind: 'convention' }>;

const findTool = ({ world }: Session, { verb, entity }: WriteRequest): ToolContract | undefined =>
  world.contract.tools.find(
    ({ binding }) =>
      binding.kind === 'convention' && binding.verb === verb && binding.entity === entity.name,
  );

/** Returns true if the tool takes a new row as the member `row` of its input, instead of as the input itself. */
const isWrapped = ({ world }: Session, { input }: ToolContract, entity: EntityContract): boolean =>
  isObject(input.properties) &&
  Object.hasOwn(input.properties, 'row') &&
  !hasField(world.contract.definitions, entity, 'row');

const runByTool = (
  session: Session,
  tool: ToolContract,
  { verb, entity, key, fields }: WriteRequest,
): Promise<RanTool> => {
  const row = { ...fields, ...key };
  const input = verb === 'create' && isWrapped(session, tool, entity) ? { row } : row;
  return runTool(session, tool.name, input);
};

const runByContract = async (
  session: Session,
  { verb, entity, key, fields }: WriteRequest,
): Promise<RanTool> => {
  const { contract, store, code } = session.world;
  const binding: Convention = { kind: 'convention', verb, entity: entity.name };
  const tool = { name: `${verb} ${entity.name}`, input: {}, output: {}, binding };
  const input = { ...fields, ...key };
  const { value, ...changed } = await store.atomically(() => {
    beginTurn(session);
    const output = runConvention({ session, contract, store, code, tool, input }, binding);
    return { output, outgoing: session.outbox.take() };
  });
  return { ...value, ...changed };
};

const codes: Record<string, AppError['code']> = {
  not_found: 'not_found',
  unknown_entity: 'not_found',
  duplicate: 'conflict',
  referenced: 'conflict',
  full: 'exhausted',
};

/** Returns the field that a refusal of the store names. It is used if checking the row finds no problem. */
const faultOfRefusal = (error: unknown): RowFault[] => {
  if (!(error instanceof StoreRefusal) || error.field === undefined) return [];
  return [
    { field: error.field, pointer: error.pointer ?? `/${error.field}`, message: error.detail },
  ];
};

const faultOfInput = (error: unknown): RowFault[] => {
  const { path, details, message } = callErrorOf(error) ?? {};
  const problems = isObject(details) && Array.isArray(details.problems) ? details.problems : [];
  const all = problems.length > 0 ? problems : path === undefined ? [] : [{ path, message }];
  return all.map((problem: { path: string; message: string }) => {
    const pointer = problem.path.replace(/^\/row(?=\/)/, '');
    return { field: pointer.split('/')[1] ?? '', pointer, message: problem.message };
  });
};

/** Returns the row as it would be after the write; undefined if there would be none. */
const wantedRow = ({ world }: Session, { verb, entity, key, fields }: WriteRequest) => {
  if (verb === 'delete') return undefined;
  if (verb === 'create') return fields;
  const payload = world.store.get(entity.name, key);
  return payload === undefined ? undefined : { ...(JSON.parse(payload) as Row), ...fields };
};

const refusedWith = (
  session: Session,
  request: WriteRequest,
  error: unknown,
  tool: string | null,
): unknown => {
  const refusal = callErrorOf(error);
  if (refusal === undefined) return error;
  const row = wantedRow(session, request);
  const key = request.verb === 'create' ? undefined : request.key;
  const found = row === undefined ? [] : faultsOf(session.world, request.entity, row, key);
  const others = [faultOfInput(error), faultOfRefusal(error)].find(({ length }) => length > 0);
  const faults = found.length > 0 ? found : (others ?? []);
  const known = new AppError(codes[refusal.code] ?? 'invalid', refusal.message);
  return new WriteRefused(known, faults, tool);
};

/** Writes a row. If the world rejects the row, throws `WriteRefused`, and nothing has changed. */
export const writeRow = async (session: Session, request: WriteRequest): Promise<Written> => {
  const tool = findTool(session, request);
  const name = tool?.name ?? null;
  try {
    const { output, ...ran } =
      tool === undefined
        ? await runByContract(session, request)
        : await runByTool(session, tool, request);
    return { ...ran, row: output, tool: name };
  } catch (error) {
    throw refusedWith(session, request, error, name);
  }
};
