/** Renders dashboards and tries out transforms. Neither stores anything. */
import { type CodeProblem, dashboardLimits as most } from '#domain/dashboard.ts';
import { AppError } from '#domain/error.ts';
import type {
  RenderBody,
  Rendered,
  TestTransformBody,
  TransformTested,
} from '#wire/public-api/observability/dashboard.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { TransformOutcome } from '../dashboard-code/transform.ts';
import type { ObservabilityParts } from '../parts.ts';
import { builtIn, kindOf } from './code.ts';
import { readData } from './data.ts';
import { writeDocument } from './document.ts';
import { pageAddress } from './links.ts';
import type { Caller, Dashboard } from './stored.ts';

const noCodeError = 'the dashboard has no code: push code with "svc dashboards push"';

/** Result of rendering: the document, or the error if the document is null. */
type Made = Pick<Rendered, 'error' | 'target'> & { document: string | null };

/**
 * Reads the data, runs the transform, and writes the document. Throws `not_found` if the request names an object that
 * does not exist.
 */
export const makeDocument = async (
  { db, dashboards }: ObservabilityParts,
  { projectId, signal }: Caller,
  dashboard: Dashboard,
  asked: RenderBody,
): Promise<Made> => {
  const shown = await readData(db, dashboard, asked);
  const { target } = shown;
  const built = builtIn(dashboard);
  if (built?.script == null) return { error: noCodeError, target, document: null };
  if ('missing' in shown) return { error: shown.missing, target, document: null };
  const { dataJson, nowMs, title } = shown;
  const about = { kind: kindOf(dashboard), target };
  const page = { title: `${dashboard.name} · ${title}`, script: built.script, about };
  if (built.transformScript === null) {
    return { error: null, target, document: writeDocument({ ...page, dataJson }) };
  }
  const job = { script: built.transformScript, dataJson, nowMs };
  const outcome = await dashboards.transform(job, { project: projectId, signal });
  if (!outcome.ok) return { error: `the transform ${outcome.error}`, target, document: null };
  const { outputJson } = outcome;
  return { error: null, target, document: writeDocument({ ...page, dataJson: outputJson }) };
};

/** Renders a dashboard; the answer has an address that shows it for one hour. */
export const render = async (
  parts: ObservabilityParts,
  caller: Caller,
  dashboard: Dashboard,
  { includeHtml = false, ...asked }: RenderBody,
): Promise<Rendered> => {
  const { error, target, document } = await makeDocument(parts, caller, dashboard, asked);
  const terms = { ...caller, dashboardId: dashboard.id, ...asked };
  return {
    success: document !== null,
    error,
    kind: kindOf(dashboard),
    target,
    html: includeHtml ? document : null,
    url: document === null ? null : pageAddress(parts, { ...terms, sessionId: target.sessionId }),
  };
};

const formatProblem = ({ line, column, message }: CodeProblem): string =>
  line === null ? message : `line ${line}, column ${column}: ${message}`;

/** Builds a transform for a trial; returns its script, or the error. */
const buildTried = async (
  { dashboards }: ObservabilityParts,
  { projectId, signal }: Caller,
  transform: string,
): Promise<{ script: string } | { error: string }> => {
  const code = { files: [], entrypoint: null, transform };
  const outcome = await dashboards.build(code, { project: projectId, signal });
  if (!outcome.ok) return { error: outcome.problems.map(formatProblem).join('; ') };
  return { script: outcome.built.transformScript ?? '' };
};

const storedScript = (dashboard: Dashboard): { script: string } | { error: string } => {
  const script = builtIn(dashboard)?.transformScript ?? null;
  if (script !== null) return { script };
  return {
    error: 'the dashboard has no transform: give one in the request, or push one with the code',
  };
};

const cutAt = (text: string, chars: number): string => text.slice(0, chars).toWellFormed();

const tested = (sessionId: string | null, outcome: TransformOutcome): TransformTested => {
  if (!outcome.ok) return failed(sessionId, `the transform ${outcome.error}`);
  const { outputJson, shapeJson } = outcome;
  const truncated = outputJson.length > most.shownOutputBytes;
  return {
    success: true,
    sessionId,
    output: truncated ? cutAt(outputJson, most.shownOutputBytes) : new JsonText(outputJson),
    truncated,
    shape: new JsonText(shapeJson),
    error: null,
  };
};

const failed = (sessionId: string | null, error: string): TransformTested => ({
  ...{ success: false, sessionId, output: null, truncated: false, shape: null, error },
});

/** Runs a transform on a session without storing it. Throws `invalid` if the dashboard does not show sessions. */
export const testTransform = async (
  parts: ObservabilityParts,
  caller: Caller,
  dashboard: Dashboard,
  { transform, sessionId }: TestTransformBody,
): Promise<TransformTested> => {
  const kind = kindOf(dashboard);
  if (kind !== 'session') {
    const message = `${dashboard.id} is a dashboard of kind "${kind}": only those of sessions have a transform`;
    throw new AppError('invalid', message);
  }
  const asked = sessionId === undefined ? {} : { sessionId };
  const shown = await readData(parts.db, dashboard, asked);
  if ('missing' in shown) return failed(null, shown.missing);
  const { target, dataJson, nowMs } = shown;
  const made =
    transform === undefined ? storedScript(dashboard) : await buildTried(parts, caller, transform);
  if ('error' in made) return failed(target.sessionId, made.error);
  const { projectId: project, signal } = caller;
  const job = { script: made.script, dataJson, nowMs };
  return tested(target.sessionId, await parts.dashboards.transform(job, { project, signal }));
};
