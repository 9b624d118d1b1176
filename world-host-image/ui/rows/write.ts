/**
 * Writes rows for the page where the world has no route for it: by the world's conventional tool, and where it has
 * none by the contract alone, as such a tool would. What is refused is told at every field that is at fault.
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
  /** The row's key; of a new row nothing. */
  key: Row;
  /** The fields of a new row, or those to be changed. */
  fields: Row;
};

/** What was done, and by which tool; null by none. */
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

/** Some tools take a new row as their input, others as a member of it. */
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

/** The field that a refusal names, where the row as a whole has no fault of its own. */
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

/** The row as it would be; undefined when there is none to be written. */
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

/** Throws `WriteRefused` for what the world does not take; then nothing has changed. */
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
