/**
 * Captures a vendor's answers: operation after operation, page after page. Each answer is redacted and written before
 * the next request. The manifest records what is done, so that a killed run can be resumed.
 */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { ingestAnswer } from '#language/capture/ingest.ts';
import type { Contract, Row, VendorContract, VendorOperation } from '#language/contract.ts';
import { captureFolder, captureManifest } from '#language/files/capture-json.ts';
import { languageLimits } from '#language/limits.ts';
import { isDeeperThan } from '#language/read/values.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import { readNamedFile } from '#runtime/named-file.ts';
import { createAnswerRedaction } from '../redact/redact-answer.ts';
import type { Secrets } from '../redact/secrets.ts';
import type { Asked, Asker, Time } from '../vendor/asker.ts';
import {
  argumentsFromRows,
  type GivenArguments,
  planOperations,
  type Skipped,
} from './arguments.ts';
import { nextCursor } from './cursor.ts';
import { type CaptureFile, captureFileOf } from './keep-capture.ts';
import { type AnsweredLine, type Manifest, openManifest } from './manifest.ts';
import { requestKey, requestUrl } from './requests.ts';

export type CaptureOptions = {
  contract: Contract & { vendor: VendorContract };
  /** Folder of the world. */
  folder: string;
  operations: readonly VendorOperation[];
  given: GivenArguments;
  /** Maximum number of argument sets that are taken from rows for one operation. */
  mostItems: number;
  asker: Asker;
  secrets: Secrets;
  time: Time;
  signal: AbortSignal;
  /**
   * Repeats requests that are already captured; each new answer replaces the earlier capture. `asked` then removes
   * surplus pages of the repeated requests. `everything` then removes all captures that this run did not make.
   */
  again?: 'asked' | 'everything' | undefined;
  showStep?(step: string): void;
};

/** Request without an answer that could be stored as a capture. */
export type FailedRequest = { operation: string; arguments: Row; page: number; reason: string };

export type OperationReport = {
  operation: string;
  /**
   * `asked` is the number of requests that this run sent; `known` is the number of requests that an earlier run had
   * already answered.
   */
  asked: number;
  known: number;
  rows: number;
  /** Number of answers by status. */
  statuses: Record<string, number>;
  /** Number of lists that had more pages than `max_pages`, so that the rest was not captured. */
  cutOff: number;
};

export type CaptureReport = {
  operations: OperationReport[];
  skipped: Skipped[];
  failed: FailedRequest[];
};

type Run = CaptureOptions & {
  manifest: Manifest;
  report: CaptureReport;
  /** Rows of answers so far, by entity. */
  rows: Map<string, Row[]>;
  /** Files of captures that this run wrote or found. */
  present: Set<string>;
};

const writeFile = (path: string, text: string): void => {
  makeFoldersSync(dirname(path));
  // A hidden file is no part of a world, in case the run is killed here.
  const beside = join(dirname(path), '.capture-under-way');
  writeFileSync(beside, text);
  renameSync(beside, path);
};

const takeRows = (run: Run, operation: VendorOperation, file: CaptureFile): number => {
  if (file.status > 299) return 0;
  const { rows } = ingestAnswer(operation, file);
  for (const { entity, row } of rows) {
    const known = run.rows.get(entity) ?? [];
    run.rows.set(entity, known);
    known.push(row);
  }
  return rows.length;
};

const readCapture = (run: Run, { file }: AnsweredLine): CaptureFile | undefined => {
  try {
    return JSON.parse(readNamedFile(run.folder, file).toString()) as CaptureFile;
  } catch {
    return undefined; // the file was removed: the request is repeated
  }
};

/** One page of a list: its request, and the cursor that led to it. */
type Spot = {
  operation: VendorOperation;
  given: Row;
  page: number;
  cursor: string | null;
};

type Outcome = { next: string | null } | 'failed';

const isGone = (status: number): boolean => status === 404 || status === 410;

/**
 * Returns true if a request has a good capture. A refusal, for example of a wrong credential, must not replace a good
 * capture.
 */
const hasGoodCapture = (run: Run, key: string): boolean => {
  const line = run.again === undefined ? undefined : run.manifest.answered(key);
  return line !== undefined && line.status <= 299 && readCapture(run, line) !== undefined;
};

/** Returns the file name of a page. The names of a list's pages sort in their order. */
const spotName = ({ operation, given, page }: Spot, { contract }: Run): string => {
  const key = requestKey(contract.vendor.slug, operation.name, given, 1).slice(0, 12);
  const number = contract.vendor.capture.cursor === null ? '' : `-${String(page).padStart(4, '0')}`;
  return `${captureFolder}${operation.name}/${key}${number}.json`;
};

const fail = (run: Run, spot: Spot, key: string, asked: Asked, reason: string): 'failed' => {
  const { operation, given, page } = spot;
  const redaction = createAnswerRedaction(run.contract, run.secrets);
  const kept = redaction.arguments(operation, given);
  const status = 'answer' in asked ? asked.answer.status : asked.status;
  const { attempts } = asked;
  run.manifest.note({ failed: key, reason: run.secrets.scrub(reason), status, attempts });
  run.report.failed.push({
    operation: operation.name,
    arguments: kept,
    page,
    reason: run.secrets.scrub(reason),
  });
  return 'failed';
};

const askSpot = async (run: Run, spot: Spot, key: string, report: OperationReport) => {
  const { contract, manifest, asker, secrets, time } = run;
  const { operation, given, page, cursor } = spot;
  const { vendor } = contract;
  const rule = vendor.capture.cursor;
  const param = rule?.param;
  const at = new Date(time.now()).toISOString();
  const redaction = createAnswerRedaction(contract, secrets);
  const keptArguments = redaction.arguments(operation, given);
  manifest.note({ asked: key, operation: operation.name, arguments: keptArguments, page, at });
  report.asked += 1;
  const paging = cursor === null || param === undefined ? undefined : { param, value: cursor };
  const asked = await asker.ask(requestUrl(vendor, operation, given, paging));
  if (!('answer' in asked)) return fail(run, spot, key, asked, asked.failure);
  const { status, headers, json: body } = asked.answer;
  if (isDeeperThan(body, languageLimits.depth)) {
    return fail(run, spot, key, asked, `its body nests deeper than ${languageLimits.depth} levels`);
  }
  const isGood = status >= 200 && status <= 299;
  if (!isGood && !isGone(status) && hasGoodCapture(run, key)) {
    return fail(
      run,
      spot,
      key,
      asked,
      `it was answered with ${status}; its earlier capture is kept`,
    );
  }
  const found = rule === null || !isGood ? { next: null } : nextCursor(rule, { headers, body });
  if ('problem' in found) return fail(run, spot, key, asked, found.problem);
  // A vendor that returns the cursor it was given would otherwise be asked forever.
  const next = found.next === cursor ? null : found.next;
  const file = captureFileOf(contract, redaction, {
    operation,
    arguments: given,
    status,
    headers,
    ...(rule === null ? {} : { page: { number: page, isLast: next === null } }),
    at,
    body,
  });
  const path = spotName(spot, run);
  run.present.add(path);
  writeFile(join(run.folder, path), `${JSON.stringify(file, null, 2)}\n`);
  const isHidden = next !== null && redaction.text(next) !== next;
  manifest.note({
    answered: key,
    status,
    file: path,
    next: isHidden ? null : next,
    ...(isHidden ? { isCursorHidden: true as const } : {}),
    attempts: asked.attempts,
  });
  report.rows += takeRows(run, operation, file);
  report.statuses[status] = (report.statuses[status] ?? 0) + 1;
  return { next };
};

/** Returns a page from an earlier run, or requests it now. */
const doSpot = async (run: Run, spot: Spot, report: OperationReport): Promise<Outcome> => {
  const { operation, given, page } = spot;
  const key = requestKey(run.contract.vendor.slug, operation.name, given, page);
  const isOld = run.again !== undefined && !run.present.has(spotName(spot, run));
  const line = isOld ? undefined : run.manifest.answered(key);
  const file = line?.isCursorHidden === true ? undefined : line && readCapture(run, line);
  if (line === undefined || file === undefined) return askSpot(run, spot, key, report);
  run.present.add(line.file);
  report.known += 1;
  report.rows += takeRows(run, operation, file);
  report.statuses[file.status] = (report.statuses[file.status] ?? 0) + 1;
  return { next: line.next };
};

/** Requests all pages for one set of arguments. */
const followPages = async (
  run: Run,
  operation: VendorOperation,
  given: Row,
  report: OperationReport,
): Promise<void> => {
  const { maxPages } = run.contract.vendor.capture;
  const asked = new Set<string>();
  let cursor: string | null = null;
  for (let page = 1; page <= maxPages; page += 1) {
    const outcome = await doSpot(run, { operation, given, page, cursor }, report);
    if (outcome === 'failed' || outcome.next === null) return;
    if (asked.has(outcome.next)) return;
    asked.add(outcome.next);
    cursor = outcome.next;
  }
  report.cutOff += 1;
};

/** Removes temporary files that killed runs left. */
const sweep = (folder: string): void => {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.name === '.capture-under-way') rmSync(join(entry.parentPath, entry.name));
  }
};

/** Returns the part of a capture's path that all pages of one list share. */
const chainOf = (path: string): string => path.replace(/(?:-\d+)?\.json$/, '');

/** Removes captures that newer ones have replaced. If any request has failed, keeps all. */
const removeReplaced = ({ folder, again, present, report }: Run): void => {
  if (again === undefined || report.failed.length > 0) return;
  const chains = new Set([...present].map(chainOf));
  for (const entry of readdirSync(join(folder, captureFolder), { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    for (const name of readdirSync(join(folder, captureFolder, entry.name))) {
      const path = `${captureFolder}${entry.name}/${name}`;
      const isAsked = again === 'everything' || chains.has(chainOf(path));
      if (isAsked && name.endsWith('.json') && !present.has(path)) rmSync(join(folder, path));
    }
  }
};

/** Runs until all requests are answered, or the signal aborts. Throws errors that end the whole capture. */
export const captureVendor = async (options: CaptureOptions): Promise<CaptureReport> => {
  const { contract, folder, operations, given, mostItems, signal, showStep } = options;
  const { plans, skipped } = planOperations(contract, operations, given);
  if (plans.length === 0 && skipped.length === 0) {
    throw new AppError(
      'invalid',
      'the connector has no operation that only reads, so nothing can be captured',
      {
        detail: { hint: 'add [[operations]] with method GET to connector.toml' },
      },
    );
  }
  makeFoldersSync(join(folder, captureFolder));
  sweep(join(folder, captureFolder));
  const run: Run = {
    ...options,
    manifest: openManifest(join(folder, captureManifest)),
    report: { operations: [], skipped, failed: [] },
    rows: new Map(),
    present: new Set(),
  };
  for (const [index, plan] of plans.entries()) {
    const { operation } = plan;
    const { name } = operation;
    const report = { operation: name, asked: 0, known: 0, rows: 0, statuses: {}, cutOff: 0 };
    run.report.operations.push(report);
    const sets = argumentsFromRows(plan, (entity) => run.rows.get(entity) ?? [], mostItems);
    if (sets.length === 0) {
      const reason = `no row of ${plan.source?.entity} was captured from which its arguments could be taken`;
      run.report.skipped.push({ operation: name, reason });
    }
    for (const [number, set] of sets.entries()) {
      signal.throwIfAborted();
      const done = sets.length === 1 ? '' : `, ${number + 1} of ${sets.length}`;
      showStep?.(`capturing ${name} (${index + 1} of ${plans.length} operations${done})`);
      await followPages(run, operation, set, report);
    }
  }
  removeReplaced(run);
  return run.report;
};
