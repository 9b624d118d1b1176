/** Sends to a world the requests that its vendor has answered, and reports how far both answers agree. */
import { own } from '#domain/json.ts';
import type { Contract, Row } from '#language/contract.ts';
import { nextCursor } from '../capture/cursor.ts';
import { keptHeaders } from '../capture/keep-capture.ts';
import { requestPath } from '../capture/requests.ts';
import { type Answer, type Comparison, compareAnswers, type Difference } from './compare.ts';
import type { NotPlayed, Play, PlayPlan } from './plan.ts';
import { rulesOf } from './rules.ts';

/** Sends a request to the world. */
export type AskWorld = (request: {
  method: string;
  path: string;
  body?: unknown;
}) => Promise<Answer>;

/** Request whose answer differs from the vendor's. */
export type DifferentRequest = {
  operation: string;
  request: string;
  /** File of the capture that the answer was compared with; null if it was compared with the contract. */
  capture: string | null;
  differences: Difference[];
  vendor: Answer | null;
  world: Answer;
};

export type RouteFidelity = {
  operation: string;
  route: string;
  requests: number;
  checks: number;
  differences: number;
  /** Percentage of checks that passed, rounded down. */
  fidelity: number;
  /** True if any answer of the route was captured; otherwise its answers are compared with the contract alone. */
  isCaptured: boolean;
};

export type ConformReport = {
  fidelity: number;
  checks: number;
  differences: number;
  routes: RouteFidelity[];
  different: DifferentRequest[];
  notPlayed: NotPlayed[];
};

/** Returns the percentage of passed checks with two decimals, rounded down, so that only a full match is 100. */
export const fidelityOf = (checks: number, differences: number): number =>
  checks === 0 ? 0 : Math.floor((Math.max(0, checks - differences) / checks) * 10_000) / 100;

type Judged = Comparison & { vendor: Answer | null; capture: string | null };

/** Returns only those headers of a served answer that are compared; the host adds others. */
const kept = (contract: Contract, answer: Answer): Answer => {
  const names = keptHeaders(contract);
  const headers = Object.entries(answer.headers).filter(([name]) => names.has(name));
  return { ...answer, headers: Object.fromEntries(headers) };
};

/**
 * Returns the differences between a row and its entity: fields that the entity does not have, and required fields that
 * the row lacks.
 */
const judgeRow = (contract: Contract, entity: string, row: unknown, at: string): Difference[] => {
  const schema = contract.entities.find(({ name }) => name === entity)?.schema ?? {};
  const { properties, required } = schema as { properties?: Row; required?: string[] };
  if (properties === undefined || typeof row !== 'object' || row === null) return [];
  const added = Object.keys(row).filter((name) => !Object.hasOwn(properties, name));
  const missing = (required ?? []).filter((name) => !Object.hasOwn(row, name));
  return [
    ...added.map((name) => ({ kind: 'added' as const, pointer: `${at}/${name}` })),
    ...missing.map((name) => ({ kind: 'missing' as const, pointer: `${at}/${name}` })),
  ];
};

/**
 * Compares an answer with the contract, for an operation that was never captured: the status with that of the route,
 * and the rows with the entity.
 */
const judgeByContract = (contract: Contract, { route }: Play, { status, body }: Answer): Judged => {
  const judged = { checks: 1, vendor: null, capture: null };
  if (status !== route.status) {
    const difference = {
      kind: 'status' as const,
      pointer: '',
      vendor: route.status,
      world: status,
    };
    return { ...judged, differences: [difference] };
  }
  const { entity, single, envelope, action } = route;
  if (entity === null || action === 'handler' || body === null)
    return { ...judged, differences: [] };
  const isBare = envelope === '';
  const found = isBare || typeof body !== 'object' ? body : own(body as Row, envelope);
  const pointer = isBare ? '' : `/${envelope}`;
  const isForm = single ? typeof found === 'object' : Array.isArray(found);
  if (!isForm) {
    const wanted = single ? 'a row' : 'a list of rows';
    const difference = { kind: 'type' as const, pointer, vendor: wanted, world: typeof found };
    return { ...judged, checks: 2, differences: [difference] };
  }
  const rows: unknown[] = Array.isArray(found) ? found : [found];
  const differences = rows.flatMap((row, index) =>
    judgeRow(contract, entity, row, single ? pointer : `${pointer}/${index}`),
  );
  return { ...judged, checks: 2 + rows.length, differences };
};

const hasNext = (contract: Contract, answer: Answer): string | null => {
  const rule = contract.vendor?.capture.cursor ?? null;
  if (rule === null || answer.status > 299) return null;
  const found = nextCursor(rule, answer);
  return 'next' in found ? found.next : null;
};

export type ConformOptions = {
  contract: Contract;
  plan: PlayPlan;
  /** Base address of the world, as the world's answers contain it. */
  base: string;
  ask: AskWorld;
  showStep?(step: string): void;
};

/** Sends the requests of one list, page by page, or a single request, and compares the answers. */
const playOne = async (
  { contract, base, ask }: ConformOptions,
  play: Play,
  onJudged: (request: string, world: Answer, judged: Judged) => void,
): Promise<void> => {
  const { operation, route, arguments: given, pages, body } = play;
  const { method } = route;
  const vendorBase = contract.vendor?.baseUrl ?? '';
  const param = contract.vendor?.capture.cursor?.param;
  const rules = rulesOf(contract, operation, route);
  const path = requestPath(operation, given);
  const isComplete = pages.at(-1)?.capture.last !== false;
  const send = (cursor: string | null): Promise<Answer> => {
    const paging = cursor === null || param === undefined ? undefined : { param, value: cursor };
    return ask({
      method,
      path: requestPath(operation, given, paging),
      ...(body === undefined ? {} : { body }),
    });
  };
  if (pages.length === 0) {
    const world = kept(contract, await send(null));
    onJudged(`${method} ${path}`, world, judgeByContract(contract, play, world));
    return;
  }
  let cursor: string | null = null;
  for (const [index, { file, capture }] of pages.entries()) {
    const world = kept(contract, await send(cursor));
    const headers = Object.fromEntries(capture.headers ?? []);
    const vendor = { status: capture.status, headers, body: capture.body };
    const all = {
      ...rules,
      isComplete,
      bases: [vendorBase, base],
      path: new URL(vendorBase + path).pathname,
    };
    const judged = compareAnswers(all, vendor, world);
    cursor = hasNext(contract, world);
    const isEnd = index === pages.length - 1;
    const page = capture.page ?? 1;
    if (capture.last !== undefined && capture.status < 300) {
      const [one, other] = [!capture.last, cursor !== null];
      judged.checks += 1;
      if (one !== other) {
        const pointer = `page ${page}`;
        const words = (has: boolean) => (has ? 'another page follows' : 'the last page');
        judged.differences.push({
          ...{ kind: 'paging', pointer, vendor: words(one), world: words(other) },
        });
      }
    }
    const request = page === 1 ? `${method} ${path}` : `${method} ${path} (page ${page})`;
    onJudged(request, world, { ...judged, vendor, capture: file });
    if (isEnd || cursor === null) return;
  }
};

/** Sends the requests of some plays, and adds the results to the report. */
const playAll = async (
  options: ConformOptions,
  plays: readonly Play[],
  report: ConformReport,
): Promise<void> => {
  for (const [index, play] of plays.entries()) {
    const { route } = play;
    const name = route.operation;
    options.showStep?.(`comparing ${name} (${index + 1} of ${plays.length})`);
    let line = report.routes.find(({ operation }) => operation === name);
    if (line === undefined) {
      line = {
        ...{ operation: name, route: `${route.method} ${route.path}`, requests: 0, checks: 0 },
        ...{ differences: 0, fidelity: 0, isCaptured: play.pages.length > 0 },
      };
      report.routes.push(line);
    }
    const of = line;
    await playOne(options, play, (request, world, { checks, differences, vendor, capture }) => {
      of.requests += 1;
      of.checks += checks;
      of.differences += differences.length;
      if (differences.length === 0) return;
      report.different.push({ operation: name, request, capture, differences, vendor, world });
    });
    of.fidelity = fidelityOf(of.checks, of.differences);
  }
};

const sum = (report: ConformReport): ConformReport => {
  report.checks = report.routes.reduce((total, { checks }) => total + checks, 0);
  report.differences = report.routes.reduce((total, { differences }) => total + differences, 0);
  report.fidelity = fidelityOf(report.checks, report.differences);
  return report;
};

/** Sends either the reads of a plan or its writes, which need a session of their own. */
export const conform = async (
  options: ConformOptions,
  which: 'reads' | 'writes',
  before?: ConformReport,
): Promise<ConformReport> => {
  const report: ConformReport = before ?? {
    ...{ fidelity: 0, checks: 0, differences: 0, routes: [], different: [] },
    notPlayed: options.plan.notPlayed,
  };
  await playAll(options, options.plan[which], report);
  return sum(report);
};
