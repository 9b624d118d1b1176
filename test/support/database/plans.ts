/** Inspects the query plans that PostgreSQL made for a statement's values, with the rows that it read. */
import type { Queryable, Statement } from '../../../src/control/db/core/database.ts';
import type { Values } from '../../../src/control/db/core/parameters.ts';

export type PlanNode = {
  'Node Type': string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
};

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Runs a statement, and returns the nodes of its plan that read the table. */
export const explainReads = async (
  db: Queryable,
  { text, ...statement }: Statement,
  { table, values }: { table: string; values: Values },
): Promise<PlanNode[]> => {
  const explaining = {
    ...statement,
    name: 'explained',
    text: `explain (analyze, timing off, format json) ${text}`,
  };
  const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explaining, values);
  const nodes = row === undefined ? [] : nodesOf(row['QUERY PLAN'][0].Plan);
  return nodes.filter((node) => node['Relation Name'] === table);
};

/** Returns the number of rows that these nodes read, including those that did not match. */
export const rowsLookedAt = (nodes: readonly PlanNode[]): number =>
  nodes.reduce(
    (sum, node) =>
      sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
    0,
  );
