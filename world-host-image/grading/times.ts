/**
 * Finds when something happened in a session. A time is the number of the ledger entry that caused it; 0 is before the
 * first entry. The time of a row is the last entry that changed one of the given fields, or that created the row.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import type { EntityContract, Row } from '#language/contract.ts';
import type { RowSource } from './row-source.ts';

type EntryRow = { entity: string; key: Row | null; kind: string; fields?: string[] };

type Touch = { id: number; fields: ReadonlySet<string> | 'all' };

export type Times = {
  /**
   * Returns the number of the entry. Undefined if it cannot be determined, because an entry names only a limited number
   * of changed rows.
   */
  ofRow(
    entity: EntityContract,
    row: Row,
    fields: ReadonlySet<string>,
    isChanged: boolean,
  ): number | undefined;
  /** Returns the number of the entry of the agent's last answer; undefined if there is no answer. */
  ofAnswer(): number | undefined;
};

const keyText = (row: Row, fields: readonly string[]): string =>
  JSON.stringify(fields.map((field) => row[field]));

const collect = (
  ledger: RowSource,
  entities: readonly EntityContract[],
): ReadonlyMap<string, Touch[]> => {
  const keys = new Map(entities.map(({ name, primaryKey }) => [name, primaryKey]));
  const touches = new Map<string, Touch[]>();
  for (const payload of ledger.query(ledgerEntity)) {
    const { id, rows } = JSON.parse(payload) as { id: number; rows: EntryRow[] };
    for (const { entity, key, kind, fields } of rows) {
      if (key === null) continue;
      const name = `${entity}\n${keyText(key, keys.get(entity) ?? [])}`;
      const list = touches.get(name) ?? [];
      list.push({
        id,
        fields: kind === 'updated' && fields !== undefined ? new Set(fields) : 'all',
      });
      touches.set(name, list);
    }
  }
  return touches;
};

/** Makes the lookup, which reads the ledger when it is first used. */
export const createTimes = (ledger: RowSource, entities: readonly EntityContract[]): Times => {
  let known: ReadonlyMap<string, Touch[]> | undefined;
  return {
    ofRow({ name, primaryKey }, row, fields, isChanged) {
      if (!isChanged) return 0;
      known ??= collect(ledger, entities);
      const touches = known.get(`${name}\n${keyText(row, primaryKey)}`);
      if (touches === undefined) return undefined;
      const last = touches.findLast(
        ({ fields: changed }) =>
          changed === 'all' || fields.size === 0 || [...fields].some((field) => changed.has(field)),
      );
      return last?.id ?? 0;
    },
    ofAnswer() {
      const where = [
        { path: ['via'], match: 'equals', value: 'session' },
        { path: ['operation'], match: 'equals', value: 'answer' },
      ] as const;
      const [last] = ledger.query(ledgerEntity, {
        where: where.map((filter) => ({ ...filter, path: [...filter.path] })),
        orderBy: [{ path: ['id'], descending: true }],
        limit: 1,
      });
      return last === undefined ? undefined : (JSON.parse(last) as { id: number }).id;
    },
  };
};
