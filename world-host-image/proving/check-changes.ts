/**
 * Builds the changes of an end state that a check must detect. For a check of rows: its rows are dropped, each of its
 * fields is changed, and one row more than allowed is added. For a check of the ledger: the entries are removed, or one
 * more entry is added. For a check of the answer: the answer is removed, or replaced by another.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import {
  type GivenCheck,
  isAnswerCheck,
  type RelatedRows,
  relatedKinds,
} from '#language/checks.ts';
import type { Contract, Row } from '#language/contract.ts';
import { findRelation } from '#language/relations.ts';
import { filtersOfConditions } from '#store/read/filter.ts';
import type { Session } from '../session/session.ts';
import {
  addRow,
  addUnlike,
  boundsOf,
  changeAll,
  changeField,
  countOf,
  dropRows,
  type Matching,
  takeBack,
} from './mutate.ts';

/** Change and its description `what`. `make` applies the change, and resolves with false if it cannot be applied. */
export type Change = { what: string; make(session: Session): Promise<boolean> };

/** Check that asks for rows, not for an answer. */
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

/** Builds a ledger entry that meets a check's conditions on plain values; other conditions are ignored. */
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

/**
 * Returns a condition for the rows that are related to the first row that a check finds; undefined if the check finds
 * no row, or the entities are not related.
 */
const relatedTo = (
  { world: { store, contract } }: Session,
  { entity, where }: RowsAsked,
  related: RelatedRows,
): Row | undefined => {
  const [from, to] = [entityOf(contract, entity), entityOf(contract, related.entity)];
  const [payload] = store.query(entity, { where: filtersOfConditions(entity, where), limit: 1 });
  if (from === undefined || to === undefined || payload === undefined) return undefined;
  const found = findRelation(from, to, related.by);
  if ('fault' in found) return undefined;
  const row = JSON.parse(payload) as Row;
  return Object.fromEntries(found.relation.map((pair) => [pair.to, row[pair.from] ?? null]));
};

/** Returns the changes that a check of related rows must detect. */
const relatedChanges = (check: RowsAsked): Change[] =>
  relatedKinds.flatMap((kind): Change[] => {
    const related = check[kind];
    if (related === undefined) return [];
    const { entity: name, where } = related;
    const change = (
      what: string,
      make: (session: Session, link: Row) => Promise<boolean>,
    ): Change => ({
      what,
      async make(session) {
        const link = relatedTo(session, check, related);
        return link !== undefined && make(session, link);
      },
    });
    const added = change(`it has a row of ${name} that matches`, ({ world }, link) => {
      const shape = entityOf(world.contract, name);
      const of = { entity: name, where: { ...where, ...link } };
      return shape === undefined
        ? Promise.resolve(false)
        : addRow(world.store, shape, of, countOf(world.store, of));
    });
    const dropped = change(`its rows of ${name} that match are gone`, ({ world }, link) =>
      dropRows(world.store, { entity: name, where: { ...where, ...link } }, 1),
    );
    const other = change(`it has a row of ${name} that does not match`, ({ world }, link) =>
      addUnlike(world.store, entityOf(world.contract, name), { link, where }),
    );
    return [{ any: dropped, none: added, all: other }[kind]];
  });

/** Returns the changes that a check must detect if it compares rows with their state before the task. */
const comparedChanges = (check: RowsAsked, min: number): Change[] => {
  const { entity, where, changed = [], unchanged = [], increased_by = {} } = check;
  const of: Matching = { entity, where };
  return [
    ...changed.map((field) => ({
      what: `${field} is as it was`,
      make: ({ world }: Session) => takeBack(world.store, of, field),
    })),
    ...[...unchanged, ...Object.keys(increased_by)].map((field) => ({
      what: `${field} is another`,
      make: ({ world }: Session) => changeAll(world.store, of, field, min),
    })),
  ];
};

/** Answer that no check accepts. */
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

/** Returns the changes that a check must detect. */
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
  const asked = min > 0 ? [...relatedChanges(check), ...comparedChanges(check, min)] : [];
  return [...(min > 0 ? fewer : []), ...asked, ...(Number.isFinite(max) ? [more] : [])];
};
