/**
 * The changes of an end state that a check of rows should see: its rows dropped, each of its fields changed, one row
 * more than it wants; of a check of the ledger, the entries gone, or one more; of an answer, none, or another one.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import { type GivenCheck, isAnswerCheck } from '#language/checks.ts';
import type { Contract, Row } from '#language/contract.ts';
import type { Session } from '../session/session.ts';
import { addRow, boundsOf, changeField, dropRows, type Matching } from './mutate.ts';

/** A change, in words, and how it is made; it answers false where it cannot be made. */
export type Change = { what: string; make(session: Session): Promise<boolean> };

/** A check of rows. */
type RowsAsked = Exclude<GivenCheck, { kind: 'answer' }>;

const entityOf = (contract: Contract, name: string) =>
  contract.entities.find((entity) => entity.name === name);

const ledgerChanges = (
  { where }: RowsAsked,
  { min, max }: ReturnType<typeof boundsOf>,
): Change[] => {
  const emptied: Change = {
    what: 'the ledger is empty',
    async make({ ledger }) {
      ledger.clear(entry({}));
      return true;
    },
  };
  const added: Change = {
    what: 'one entry more',
    async make({ ledger }) {
      for (let count = 0; count <= Math.min(max, mostAdded); count += 1) ledger.note(entry(where));
      return max <= mostAdded;
    },
  };
  return [...(min > 0 ? [emptied] : []), ...(Number.isFinite(max) ? [added] : [])];
};

const mostAdded = 1_000;

const scalarOf = (where: Row, name: string): string | null => {
  const wanted = where[name];
  const value = Array.isArray(wanted) ? wanted[0] : wanted;
  return typeof value === 'string' ? value : null;
};

/** An entry of the ledger that says what a check asks for, as far as it asks by values. */
const entry = (where: Row) => {
  const status = Array.isArray(where.status) ? where.status[0] : where.status;
  return {
    at: new Date(0).toISOString(),
    via: (scalarOf(where, 'via') ?? 'api') as 'api',
    operation: scalarOf(where, 'operation'),
    method: scalarOf(where, 'method') ?? 'POST',
    path: scalarOf(where, 'path') ?? '/',
    status: typeof status === 'number' ? status : 200,
    request: {},
    response: null,
    duration_ms: 0,
    changes: {},
    call_id: null,
  };
};

/** An answer that is like none that a check takes. */
const otherAnswer = { svc: 'another answer' };

const answerChanges: Change[] = [
  {
    what: 'there is no answer',
    make: async (session) => {
      session.answer = null;
      return true;
    },
  },
  {
    what: 'the answer is another',
    make: async (session) => {
      session.answer = { value: otherAnswer };
      return true;
    },
  },
];

/** The changes that a check should see. */
export const changesFor = (contract: Contract, check: GivenCheck): Change[] => {
  if (isAnswerCheck(check)) return answerChanges;
  const { entity: name, where, count } = check;
  const { min, max } = boundsOf(count);
  if (name === ledgerEntity) return ledgerChanges(check, { min, max });
  const entity = entityOf(contract, name);
  if (entity === undefined) return [];
  const of: Matching = { entity: name, where };
  const fewer: Change[] = [
    { what: 'its rows are dropped', make: ({ world }) => dropRows(world.store, of, min) },
    ...Object.keys(where)
      .filter((field) => !entity.primaryKey.includes(field))
      .map((field) => ({
        what: `${field} is another`,
        make: ({ world }: Session) => changeField(world.store, of, field, min),
      })),
  ];
  const more: Change = {
    what: 'there is one row more',
    make: ({ world }) => addRow(world.store, entity, of, max),
  };
  return [...(min > 0 ? fewer : []), ...(Number.isFinite(max) ? [more] : [])];
};
