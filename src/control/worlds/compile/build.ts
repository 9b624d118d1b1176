/**
 * Builds a world version from the files of a tree. Returns the contract, generated files, bundle and snapshot, or the
 * list of all problems. This is pure computation over user input, so it runs in a compile process (see `compiler.ts`)
 * and returns plain data.
 */

import type { FieldProblem } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { decodeBundle, encodeBundle, selectUserCode } from '#language/artifacts/bundle.ts';
import { createWithholding, redactRows } from '#language/capture/redacted-rows.ts';
import { compileTree } from '#language/compile/compile.ts';
import { languageWarnings } from '#language/compile/warnings.ts';
import type { Contract, Dependency } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import { type RedactionMode, redactionLack } from '#language/redaction-modes.ts';
import { StoreRefusal } from '#store/refusal.ts';
import { type BuiltSnapshot, buildSnapshot } from '#store/snapshot.ts';
import type { VersionChanges } from '#wire/public-api/worlds/version.ts';
import type { VersionTexts } from '../../base/contracts/contract-view.ts';
import { type ContractFacts, factsOf, writeTexts } from '../../base/contracts/contract-view.ts';
import { compareEntities } from '../../base/contracts/version-changes.ts';
import { type BaseVersion, countTreeRows, type Rows, withoutReplaced } from './kept-rows.ts';
import { overlay } from './tree.ts';

/** Row that the store refuses, with its path in the tree or in the request. */
export type RefusedRow = { message: string; field: FieldProblem };

/** Rows of a version. */
export type BuiltRows = {
  /** Number of rows that came from the tree, by entity. They are the first rows of each entity. */
  treeRows: Record<string, number>;
  /**
   * Number of rows kept from the previous version that did not come from that version's tree, and number of rows of the
   * new tree that were left out because a kept row has their key.
   */
  keptRows: number;
  leftOutRows: number;
  snapshot: BuiltSnapshot;
};

/** Rows of a version that keeps rows of the previous version. The two are combined later, see `carry.ts`. */
export type RowsToCarry = {
  /** Rows of the tree, as JSON text of lists by entity. */
  treeRowsJson: string;
  /** Number of rows in the previous version that came from its tree, by entity. */
  baseTreeRows: Record<string, number>;
};

export type Built =
  | {
      ok: true;
      /** Name of the world as its manifest gives it. */
      name: string;
      /** Contract as JSON text, because it is stored as text and may be large. */
      contractJson: string;
      /** Precomputed texts that answers include. */
      texts: VersionTexts;
      facts: ContractFacts;
      /** Test jobs that run after each push, as the world declares them. */
      onPush: Contract['onPush'];
      /** Checks that a pushed version must pass before it becomes the head. */
      gate: NonNullable<Contract['gate']>;
      /** Links to other worlds, and the tools of linked worlds that tasks of this world name. */
      dependencies: Dependency[];
      linkedTaskTools: string[];
      /** Entities that were added, changed or removed in comparison with the version on which this one is based. */
      entities: VersionChanges['entities'];
      rows: ({ kind: 'built' } & BuiltRows) | ({ kind: 'to_carry' } & RowsToCarry);
      /** Files to store in addition to the files of the tree; they replace files with the same path. */
      generated: TreeFile[];
      /** Blob that hosts load, as written by `encodeBundle`. */
      bundle: Uint8Array;
      /** Warnings of the world language about likely mistakes. */
      warnings: string[];
    }
  | { ok: false; problems: Problem[] }
  | { ok: false; row: RefusedRow };

const joinRows = (base: Rows, more: Rows): Rows => {
  const joined = new Map(Object.entries(base));
  for (const [entity, rows] of Object.entries(more)) {
    joined.set(entity, [...(joined.get(entity) ?? []), ...rows]);
  }
  return Object.fromEntries(joined);
};

const countRows = (rows: Rows): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([entity, list]) => [entity, list.length]));

const totalOf = (rows: Rows): number =>
  Object.values(rows).reduce((sum, list) => sum + list.length, 0);

/**
 * Returns the path of a refused row: in the tree's data, or in the request body. The rows of the body follow those of
 * the tree.
 */
const placeRefusal = (refusal: StoreRefusal, base: Rows): FieldProblem => {
  const { entity, index, detail } = refusal;
  const pointer = parsePointer(refusal.pointer ?? '');
  const ofTree = Object.hasOwn(base, entity) ? (base[entity]?.length ?? 0) : undefined;
  const isOfBody = index === undefined ? ofTree === undefined : index >= (ofTree ?? 0);
  const position = index === undefined ? [] : [String(isOfBody ? index - (ofTree ?? 0) : index)];
  const place = isOfBody ? ['data', 'rows', entity] : [`data/${entity}.json`];
  return { path: [...place, ...position, ...pointer], message: detail };
};

/** Returns the rows of a request in the form in which they are stored, or the reason for which they are refused. */
const redactMore = (
  contract: Contract,
  more: Rows,
  mode: RedactionMode,
): { ok: true; rows: Rows } | { ok: false; row: RefusedRow } => {
  if (mode === 'off') return { ok: true, rows: more };
  const lack = redactionLack(contract, mode);
  if (lack !== undefined) {
    return {
      ok: false,
      row: { message: lack, field: { path: ['data', 'redact'], message: lack } },
    };
  }
  const redacted = redactRows(contract, more, mode);
  if (redacted.ok) return redacted;
  const { path = [], message = '' } = redacted.problems[0] ?? {};
  return { ok: false, row: { message, field: { path: ['data', 'rows', ...path], message } } };
};

/** Returns the refusal of redacted rows, reworded so that it quotes none of their values. */
const withheld = (refusal: StoreRefusal, contract: Contract): StoreRefusal => {
  if (refusal.kind !== 'shape') return refusal;
  const { pointer = '', detail } = refusal;
  return new StoreRefusal({ ...refusal, ...createWithholding(contract)({ pointer, detail }) });
};

const linkedTaskTools = ({ tasks, tools }: Contract): string[] => {
  const own = new Set(tools.map(({ name }) => name));
  const given = new Set(tasks.flatMap((task) => task.tools ?? []));
  return [...given].filter((name) => !own.has(name));
};

const buildRows = (contract: Contract, all: Rows, ofTree: Rows, more: Rows): BuiltRows => ({
  treeRows: countRows(ofTree),
  keptRows: 0,
  leftOutRows: totalOf(all) - totalOf(ofTree),
  snapshot: buildSnapshot(contract, joinRows(ofTree, more)),
});

/**
 * Builds a version from the rows of a tree and the rows of a request. The latter are redacted first if the request says
 * so. If rows of the previous version are kept, nothing is combined here, because there may be very many rows.
 */
export const buildVersion = (
  files: readonly TreeFile[],
  given: Rows,
  { base, redact = 'off' }: { base?: BaseVersion; redact?: RedactionMode } = {},
): Built => {
  const compiled = compileTree(files);
  if (!compiled.ok) return compiled;
  const { contract, baseRows, rewritten } = compiled;
  const generated = [...rewritten, ...compiled.generated];
  const redacted = redactMore(contract, given, redact);
  if (!redacted.ok) return redacted;
  const before = base === undefined ? undefined : decodeBundle(base.bundle).contract;
  const ofTree = withoutReplaced(baseRows, base?.replaced);
  try {
    const rows: Extract<Built, { ok: true }>['rows'] =
      base?.treeRows === undefined
        ? { kind: 'built', ...buildRows(contract, baseRows, ofTree, redacted.rows) }
        : {
            kind: 'to_carry',
            treeRowsJson: JSON.stringify(baseRows),
            baseTreeRows: countTreeRows(base.treeRows),
          };
    const code = selectUserCode(contract, overlay(files, generated));
    return {
      ok: true,
      name: contract.name,
      contractJson: JSON.stringify(contract),
      texts: writeTexts(contract),
      facts: factsOf(contract),
      onPush: contract.onPush,
      gate: contract.gate ?? [],
      dependencies: contract.dependencies,
      linkedTaskTools: linkedTaskTools(contract),
      entities: compareEntities(before?.entities ?? [], contract.entities),
      rows,
      generated,
      bundle: encodeBundle({ contract, files: code }),
      warnings: languageWarnings(contract, files, baseRows),
    };
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    const refusal = redact === 'off' ? error : withheld(error, contract);
    const row = { message: refusal.message, field: placeRefusal(refusal, ofTree) };
    return { ok: false, row };
  }
};
