/**
 * Answers requests of the generated page below `/__svc/ui/`, on the UI's own origin. The page reads rows by these
 * requests, and writes rows for which the world has no route. Each request is recorded in the session's ledger with
 * `via: "ui"`.
 *
 * - `GET entities`: the entities with their row counts, and the world's time.
 * - `GET entities/{entity}/rows?where=&search=&sort=&limit=&cursor=|offset=`: a page of rows, with the titles of rows
 *   that they refer to.
 * - `GET entities/{entity}/row?key=`: one row, with its relations in both directions.
 * - `POST entities/{entity}/rows`, `PATCH` and `DELETE entities/{entity}/row?key=`: write one row.
 * - `POST entities/{entity}/check?key=`: the problems of a row by field; the row is not written.
 */
import { AppError, type ErrorCode } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import { limits } from '#domain/limits.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import { isDeeperThan } from '#language/read/values.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { toErrorAnswer } from '#wire/errors.ts';
import { holdsInheriting } from '#wire/json-extent.ts';
import type { ApiRequest } from '../../api/requests/api-request.ts';
import type { LedgerNote } from '../../ledger/ledger.ts';
import { noteOutgoing } from '../../session/note-outgoing.ts';
import type { Session } from '../../session/session.ts';
import { type ReadAnswer, readEntities, readList, readRow } from './list.ts';
import { faultsOf } from './problems.ts';
import { findEntity, readKey, readListQuestion } from './question.ts';
import { WriteRefused, type WriteVerb, writeRow } from './write.ts';

/** Prefix of the paths that this file serves on the UI's origin. */
export const rowsPrefix = '/__svc/ui/';

/** JSON answer that no cache may store. */
export type RowsAnswer = { status: number; headers: Record<string, string>; body: string };

/** Maximum size of a body in bytes. It is limited because the host's event loop parses and checks the body. */
const mostBodyBytes = 256 * 1024;

/** Facts about a request that the ledger records, in addition to the time and status of its answer. */
type NotedFacts = Pick<LedgerNote, 'operation' | 'changes' | 'rows'> & {
  request: unknown;
  response: unknown;
};

type Outcome = { status: number; json: string; facts: Partial<NotedFacts>; after?: () => void };

type Asked = ApiRequest & { session: Session; entity: EntityContract };

const reading =
  (verb: string, read: (asked: Asked) => Promise<ReadAnswer>) =>
  async (asked: Asked): Promise<Outcome> => {
    const { json, facts } = await read(asked);
    return {
      status: 200,
      json,
      facts: { operation: `${verb} ${asked.entity.name}`, response: facts },
    };
  };

const parseBody = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError('invalid', 'the body is not JSON', { cause });
  }
};

const readFields = async ({ headers, readBody }: ApiRequest): Promise<Row> => {
  // A page of another site cannot send this type without a CORS preflight.
  if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json') {
    throw new AppError('invalid', 'send the row as application/json');
  }
  const bytes = await readBody();
  if (bytes === undefined || bytes.length > mostBodyBytes) {
    throw new AppError('invalid', `the row is larger than ${mostBodyBytes} bytes`);
  }
  const value = parseBody(bytes);
  if (!isObject(value) || isDeeperThan(value, limits.bodyLevels)) {
    const message = `the body must be an object of fields that nests at most ${limits.bodyLevels} levels`;
    throw new AppError('invalid', message);
  }
  if (holdsInheriting(Buffer.from(bytes).toString('utf8'), value)) {
    throw new AppError('invalid', 'the body has a member "__proto__" or "constructor.prototype"');
  }
  return value as Row;
};

const statusOfVerb: Record<WriteVerb, number> = { create: 201, update: 200, delete: 200 };

const writing =
  (verb: WriteVerb) =>
  async (asked: Asked): Promise<Outcome> => {
    const { session, entity } = asked;
    const key = verb === 'create' ? {} : readKey(entity, asked.query);
    const fields = verb === 'delete' ? {} : await readFields(asked);
    const operation = `${verb} ${entity.name}`;
    const request = { key, fields };
    try {
      const written = await writeRow(session, { verb, entity, key, fields });
      const { row, changes, rows, outgoing, tool } = written;
      return {
        status: statusOfVerb[verb],
        json: JSON.stringify({ row, changes }),
        facts: { operation: tool ?? operation, changes, rows, request, response: { row } },
        after() {
          noteOutgoing(session, outgoing, null);
        },
      };
    } catch (error) {
      if (!(error instanceof WriteRefused)) throw error;
      const answer = answerOfError(error);
      const facts = {
        operation: error.tool ?? operation,
        request,
        response: answer.facts.response,
      };
      return { ...answer, facts };
    }
  };

const checking = async (asked: Asked): Promise<Outcome> => {
  const { session, entity, query } = asked;
  const key = query.get('key') === null ? undefined : readKey(entity, query);
  const fields = await readFields(asked);
  const { store } = session.world;
  const faults = await store.exclusively(() => {
    const payload = key === undefined ? undefined : store.get(entity.name, key);
    const row = payload === undefined ? fields : { ...(JSON.parse(payload) as Row), ...fields };
    return faultsOf(session.world, entity, row, key);
  });
  const response = { problems: faults };
  const facts = {
    operation: `check ${entity.name}`,
    request: { key: key ?? null, fields },
    response,
  };
  return { status: 200, json: JSON.stringify(response), facts };
};

type Handler = (asked: Asked) => Promise<Outcome>;

const handlers: Record<string, Partial<Record<string, Handler>>> = {
  rows: {
    GET: reading('list', ({ session, entity, query }) =>
      readList(session.world, readListQuestion(entity.name, query)),
    ),
    POST: writing('create'),
  },
  row: {
    GET: reading('get', ({ session, entity, query }) =>
      readRow(session.world, entity, readKey(entity, query)),
    ),
    PATCH: writing('update'),
    DELETE: writing('delete'),
  },
  check: { POST: checking },
};

const refuseMethod = (method: string, allowed: readonly string[]): never => {
  const message = `${method} is not allowed here; use ${allowed.join(' or ')}`;
  throw new AppError('invalid', message, { detail: { allowed } });
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AppError('not_found', 'the path is not percent-encoded UTF-8', { cause });
  }
};

const perform = async (session: Session, request: ApiRequest): Promise<Outcome> => {
  const segments = request.path.slice(rowsPrefix.length).split('/');
  const [first, name, what, ...rest] = segments.map(decode);
  if (first === 'entities' && name === undefined) {
    if (request.method !== 'GET') refuseMethod(request.method, ['GET']);
    const { json, facts } = readEntities(session.world, session.clock);
    return { status: 200, json, facts: { operation: 'entities', response: facts } };
  }
  const known = Object.hasOwn(handlers, what ?? '') ? handlers[what ?? ''] : undefined;
  if (first !== 'entities' || known === undefined || rest.length > 0) {
    throw new AppError(
      'not_found',
      'there is nothing at this path; entities and their rows are below entities/',
    );
  }
  const entity = findEntity(session.world.contract, name ?? '');
  const handler = Object.hasOwn(known, request.method) ? known[request.method] : undefined;
  if (handler === undefined) return refuseMethod(request.method, Object.keys(known));
  return handler({ ...request, session, entity });
};

const codeOfRefusal = (refusal: StoreRefusal): ErrorCode =>
  refusal.kind === 'unknown_entity' || refusal.kind === 'not_found' ? 'not_found' : 'invalid';

/** Returns an error in the form that the page expects: `message` as text, `error` as the code, `problems` by field. */
const answerOfError = (error: unknown): Outcome => {
  const known =
    error instanceof StoreRefusal
      ? new AppError(codeOfRefusal(error), error.message, { cause: error })
      : error;
  const { status, body } = toErrorAnswer(known);
  const problems = error instanceof WriteRefused ? error.faults : [];
  const answer = { ...body, problems };
  return { status, json: JSON.stringify(answer), facts: { response: answer } };
};

const isExpected = (error: unknown): boolean =>
  error instanceof AppError || error instanceof StoreRefusal;

const note = (session: Session, request: ApiRequest, outcome: Outcome, at: Date, ms: number) => {
  const { facts, status } = outcome;
  session.ledger.note({
    at: at.toISOString(),
    via: 'ui',
    operation: facts.operation ?? null,
    method: request.method,
    path: request.path,
    status,
    request: facts.request ?? Object.fromEntries(request.query),
    response: facts.response ?? null,
    duration_ms: ms,
    changes: facts.changes ?? {},
    ...(facts.rows === undefined ? {} : { rows: facts.rows }),
    call_id: null,
  });
  outcome.after?.();
};

/** Answers a request below `rowsPrefix` and records it. Rethrows a bug of the host after recording it. */
export const answerRows = async (request: ApiRequest, session: Session): Promise<RowsAnswer> => {
  const at = new Date();
  const startedAt = performance.now();
  const noted = (outcome: Outcome): void =>
    note(session, request, outcome, at, performance.now() - startedAt);
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  try {
    const outcome = await perform(session, request);
    noted(outcome);
    return { status: outcome.status, headers, body: outcome.json };
  } catch (error) {
    const outcome = answerOfError(error);
    noted(outcome);
    if (!isExpected(error)) throw error;
    return { status: outcome.status, headers, body: outcome.json };
  }
};
