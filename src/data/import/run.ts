/**
 * Runs an import: checks the rows of many chunks against the contract and one another, and writes the snapshot of the
 * next version. Equal plans give equal bytes. An interrupted import is repeated from the start, and its unfinished
 * files are discarded.
 *
 * Rows are checked one by one as they are read, and stored in their tables. Constraints between rows are checked once
 * all rows are stored, so that rows may come in any order.
 */
import { rm } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { AppError } from '#domain/error.ts';
import { parsePointer } from '#domain/json.ts';
import { createWithholding } from '#language/capture/redacted-rows.ts';
import { createRedaction } from '#language/capture/redaction.ts';
import { redactionLack } from '#language/redaction-modes.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import { makeFolders } from '#runtime/folders.ts';
import { createCatalog } from '#store/tables/catalog.ts';
import { writeSummary } from '#store/tables/open.ts';
import { createStatements } from '#store/tables/statements.ts';
import { isFull, isTaken } from '#store/write/collisions.ts';
import { createKeptNumbers } from '#store/write/kept-numbers.ts';
import { createAppend } from './append.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { holdConstraints } from './constraints.ts';
import { type ImportDatabase, openImportDatabase } from './database.ts';
import { faultOf, type RowFault } from './faults.ts';
import { beginGrowth, isForGrowth, NotGrown } from './grow.ts';
import type { Landing } from './landing.ts';
import { type ImportLimits, importLimits } from './limits.ts';
import { ChunkFault, readLines } from './lines.ts';
import { createMerge } from './merge.ts';
import type { ImportChunk, ImportOutcome, ImportPlan, ImportProgress } from './plan.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { createRemoval } from './removal.ts';
import { createRowReader, isFault, type RowReader, type RowReaderParts } from './rows.ts';
import { packSnapshotFile } from './snapshot-file.ts';
import { createStateSum } from './state-sum.ts';

type Reading = {
  plan: ImportPlan;
  limits: ImportLimits;
  reader: RowReader;
  landing: Landing;
  arrivals: Arrivals;
  refusals: Refusals;
  /** Converts the fault of a row to the form in which a refusal reports it. */
  shown(fault: RowFault): RowFault;
};

/**
 * Returns the function that converts faults of rows for refusals; under redaction, the results quote nothing of the
 * rows.
 */
const createShown = ({ contract, redact, withholds }: ImportPlan): Reading['shown'] => {
  if (redact === 'off' && withholds !== true) return (fault) => fault;
  const withhold = createWithholding(contract);
  return (fault) => {
    // A row that failed may not be redacted, so its key is withheld.
    const withheld = withhold({ pointer: fault.pointer ?? '', detail: fault.detail });
    const pointer = fault.pointer === null ? null : withheld.pointer;
    const field = parsePointer(withheld.pointer)[0] ?? null;
    return { ...fault, primaryKey: null, field, pointer, detail: withheld.detail };
  };
};

const redactionOf = ({ contract, redact: mode }: ImportPlan): RowReaderParts['redaction'] => {
  if (mode === 'off') return null;
  const lack = redactionLack(contract, mode);
  if (lack !== undefined) throw new AppError('invalid', lack);
  return { mode, ...createRedaction(contract.redact) };
};

const readChunk = async (
  { plan, limits, reader, landing, arrivals, refusals, shown }: Reading,
  chunk: ImportChunk,
  tick: () => void,
): Promise<void> => {
  const entity = chunk.entity ?? plan.entity;
  const { ordinal } = chunk;
  let rows = 0;
  arrivals.begin(ordinal);
  for await (const lines of readLines(chunk.file, limits)) {
    for (const line of lines) {
      const arrival = arrivals.next();
      const read = reader.read(line, entity);
      if (read === undefined) continue;
      rows += 1;
      const fault = isFault(read) ? read : landing.take(read, arrival);
      if (fault !== undefined) refusals.add(arrivals.placeOf(arrival), shown(fault));
    }
    tick();
    await setImmediate();
  }
  if (rows === chunk.rows) return;
  throw new ChunkFault(`has ${rows} rows, but was declared to have ${chunk.rows}`);
};

const readChunks = async (
  reading: Reading,
  report: (progress: ImportProgress) => void,
): Promise<void> => {
  const chunks = reading.plan.chunks.toSorted((a, b) => a.ordinal - b.ordinal);
  const { landing, refusals } = reading;
  for (const [validatedChunks, chunk] of chunks.entries()) {
    const tick = (): void =>
      report({ phase: 'validating', validatedChunks, appliedRows: landing.taken() });
    try {
      await readChunk(reading, chunk, tick);
    } catch (error) {
      if (!(error instanceof ChunkFault)) throw error;
      const entity = chunk.entity ?? reading.plan.entity ?? null;
      refusals.addFatal(
        { chunk: chunk.ordinal, index: null },
        faultOf(`the chunk ${error.message}`, { entity }),
      );
    }
  }
};

/** Copies the kept numbers of the base (`kept-numbers.ts`), except those of replaced entities. */
const copyNumbers = ({ db, base }: ImportDatabase, replaced: readonly string[]): void => {
  createKeptNumbers(db, createStatements(db));
  const table = "SELECT 1 FROM base.sqlite_schema WHERE name = 'svc_numbers'";
  if (base !== 'base' || db.prepare(table).get() === undefined) return;
  db.exec(
    'INSERT INTO main.svc_numbers SELECT * FROM base.svc_numbers ORDER BY entity, field, within',
  );
  for (const name of replaced)
    db.prepare('DELETE FROM main.svc_numbers WHERE entity = ?').run(name);
};

const countRows = ({ db }: ImportDatabase, table: string): number =>
  Number(db.prepare(`SELECT count(*) AS n FROM main.${table}`).get()?.n);

const importInto = async (
  database: ImportDatabase,
  plan: ImportPlan,
  limits: ImportLimits,
  refusals: Refusals,
  report: (progress: ImportProgress) => void,
): Promise<ImportOutcome> => {
  const { contract, mode } = plan;
  const catalog = createCatalog(contract);
  const checker = createRowChecker(contract);
  const sum = createStateSum(database);
  const growth = database.base === 'main' ? beginGrowth(database, catalog) : undefined;
  const arrivals = createArrivals();
  const parts = { catalog, checker, database, sum, treeRows: plan.base?.treeRows ?? {} };
  const chunkEntities = plan.chunks.flatMap(({ entity }) => entity ?? plan.entity ?? []);
  const named = catalog.entities
    .map(({ name }) => name)
    .filter((name) => (plan.entities ?? chunkEntities).includes(name));
  const landing =
    mode === 'merge'
      ? createMerge(parts)
      : createAppend({ ...parts, replaced: mode === 'replace' ? named : null });
  const redaction = redactionOf(plan);
  const reader = createRowReader({
    catalog,
    entities: plan.entities,
    redaction,
    rowFields: limits.rowFields,
    hasNoted: redaction === null && plan.withholds === true,
  });
  const shown = createShown(plan);
  await readChunks({ plan, limits, reader, landing, arrivals, refusals, shown }, report);
  const applying = (): void =>
    report({
      phase: 'applying',
      validatedChunks: plan.chunks.length,
      appliedRows: landing.taken(),
    });
  applying();
  landing.finish();
  if (growth === undefined) {
    const removal = createRemoval({ catalog, database, landing, arrivals, refusals, sum });
    holdConstraints({ contract, catalog, database, landing, removal });
  } else {
    if (refusals.count() > 0) throw new NotGrown();
    growth.check();
  }
  if (refusals.isFatal() || (plan.atomic && refusals.count() > 0)) {
    return { kind: 'refused', ...(await refusals.write(plan.folder)) };
  }
  const entries = <Value>(of: (entity: (typeof catalog.entities)[number]) => Value) =>
    Object.fromEntries(catalog.entities.map((entity) => [entity.name, of(entity)]));
  const replaced = catalog.entities.filter(landing.isReplaced).map(({ name }) => name);
  const outcome = {
    kind: 'applied' as const,
    entityCounts: entries(({ table }) => countRows(database, table)),
    landed: entries(landing.landed),
    treeRows: entries(landing.treeRows),
    replaced,
    ...(await refusals.write(plan.folder)),
  };
  if (plan.dryRun) return { ...outcome, snapshot: null };
  copyNumbers(database, replaced);
  writeSummary(database.db, { sum: sum.value(), counts: outcome.entityCounts });
  database.db.exec('COMMIT');
  database.close();
  applying();
  return { ...outcome, snapshot: await packSnapshotFile(database.file, plan.folder, sum.value()) };
};

/**
 * Refuses the import because the rows exceed the database's size limit. The error of a full disk does not refuse the
 * import; it is thrown.
 */
const refuseFull = (refusals: Refusals, storeBytes: number): void => {
  const gibibytes = (storeBytes / 2 ** 30).toFixed(1);
  const detail = `the world's rows and those of this import together take more than ${gibibytes} GiB; import fewer rows`;
  refusals.addFatal({ chunk: null, index: null }, faultOf(detail));
};

type Bounded = { plan: ImportPlan; limits: ImportLimits; report(progress: ImportProgress): void };

/**
 * Runs a plan in an empty folder. Throws `NotGrown` if `grows` is true and the rows cannot be added to a copy of the
 * base's file.
 */
const runIn = async ({ plan, limits, report }: Bounded, grows: boolean): Promise<ImportOutcome> => {
  const { contract, folder } = plan;
  const { storeBytes } = limits;
  await rm(folder, { recursive: true, force: true });
  await makeFolders(folder, { mode: 0o700 });
  const refusals = createRefusals(limits);
  const base = plan.base?.file;
  const database = openImportDatabase({ contract, base, isGrown: grows, folder, storeBytes });
  try {
    return await importInto(database, plan, limits, refusals, report);
  } catch (error) {
    if (grows && isTaken(error)) throw new NotGrown();
    // Near the limit, one row may have needed more than was left; with more space left, the disk was full.
    if (!isFull(error) || !database.hasLessThan(limits.lineBytes)) throw error;
    refuseFull(refusals, storeBytes);
    return { kind: 'refused', ...(await refusals.write(folder)) };
  } finally {
    database.close();
  }
};

/**
 * Runs an import. Throws `AppError` `invalid` for a plan with redaction for a world without connector, and the errors
 * of files that cannot be read or written.
 */
export const runImport = async (
  plan: ImportPlan,
  report: (progress: ImportProgress) => void = () => undefined,
  bounds: Partial<ImportLimits> = {},
): Promise<ImportOutcome> => {
  const limits = { ...importLimits, ...bounds };
  const bounded = { plan, limits, report };
  if (!isForGrowth(plan, limits.growthShare)) return runIn(bounded, false);
  try {
    return await runIn(bounded, true);
  } catch (error) {
    if (!(error instanceof NotGrown)) throw error;
    return runIn(bounded, false);
  }
};
