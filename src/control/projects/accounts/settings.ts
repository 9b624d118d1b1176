/**
 * Settings of a project. A setting that the project does not set comes from its organization or the installation. A
 * project may set a quota lower than the installation's default; only an operator may raise it above the default.
 */
import { AppError } from '#domain/error.ts';
import type { BrowserTier } from '#domain/session.ts';
import {
  type ProjectSettingsChange,
  type ProjectSettingsView,
  type QuotasChange,
  type SettableQuota,
  settableQuotas,
} from '#wire/public-api/projects/settings.ts';
import type { Quotas } from '../../base/fairness/quotas.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  findProjectSettings,
  lockProject,
  type NewSettings,
  type ProjectSettings,
  writeProjectSettings,
} from '../../db/projects/projects.ts';
import { type Changer, change } from './change.ts';
import { getProject } from './projects.ts';

/** Settings of the installation, used for projects that do not set their own. */
export type UsualSettings = {
  quotas: Quotas;
  rateLimit: number | null;
  browserTier: BrowserTier;
};

/** Rule of the release gate for projects that do not set one. */
const usualGate = { threshold: 0.7, floor: 30 };

type QuotaColumn = `quota${Capitalize<SettableQuota>}`;
const columnOf = (quota: SettableQuota): QuotaColumn =>
  `quota${quota.charAt(0).toUpperCase()}${quota.slice(1)}` as QuotaColumn;

type Found = NonNullable<Awaited<ReturnType<typeof findProjectSettings>>>;

const namesOfSet = (found: Found): string[] => [
  ...(found.browserTier === null ? [] : ['browserTier']),
  ...(found.gateThreshold === null ? [] : ['gate.threshold']),
  ...(found.gateFloor === null ? [] : ['gate.floor']),
  ...(found.rateLimit === null ? [] : ['rateLimit']),
  ...(found.eventsPerMonth === null ? [] : ['eventsPerMonth']),
  ...settableQuotas
    .filter((name) => found[columnOf(name)] !== null)
    .map((name) => `quotas.${name}`),
];

const view = (found: Found, usual: UsualSettings): ProjectSettingsView => ({
  webhookPush: found.webhookPushSince !== null,
  webhookPushSince: found.webhookPushSince?.toISOString() ?? null,
  sessionTraces: found.sessionTraces,
  browserTier: found.browserTier ?? found.organizationBrowserTier ?? usual.browserTier,
  gate: {
    threshold: found.gateThreshold ?? usualGate.threshold,
    floor: found.gateFloor ?? usualGate.floor,
  },
  rateLimit: found.rateLimit ?? usual.rateLimit,
  eventsPerMonth: found.eventsPerMonth,
  quotas: Object.fromEntries(
    settableQuotas.map((name) => [name, found[columnOf(name)] ?? usual.quotas[name]]),
  ) as ProjectSettingsView['quotas'],
  set: namesOfSet(found),
});

/** Returns the effective settings, without the list `set` of those that the project sets itself. */
const valuesOf = (found: Found, usual: UsualSettings): object => {
  const { set: _, ...values } = view(found, usual);
  return values;
};

const getFound = async (db: Queryable, projectId: string): Promise<Found> => {
  const found = await findProjectSettings(db, projectId);
  if (found === undefined) throw new AppError('not_found', `there is no project "${projectId}"`);
  return found;
};

/** Returns the effective settings of a project. */
export const getSettings = async (
  db: Queryable,
  projectId: string,
  usual: UsualSettings,
): Promise<ProjectSettingsView> => view(await getFound(db, projectId), usual);

/** Returns the given value, also if it is null; the previous value if the given one is undefined. */
const changed = <Value>(given: Value | undefined, before: Value): Value =>
  given === undefined ? before : given;

const quotasOf = (before: Found, quotas: QuotasChange = {}) =>
  Object.fromEntries(
    settableQuotas.map((name) => [columnOf(name), changed(quotas[name], before[columnOf(name)])]),
  ) as Pick<ProjectSettings, QuotaColumn>;

const apply = (before: Found, wanted: ProjectSettingsChange): NewSettings => ({
  isPushed: wanted.webhookPush ?? before.webhookPushSince !== null,
  sessionTraces: wanted.sessionTraces ?? before.sessionTraces,
  browserTier: changed(wanted.browserTier, before.browserTier),
  gateThreshold: changed(wanted.gate?.threshold, before.gateThreshold),
  gateFloor: changed(wanted.gate?.floor, before.gateFloor),
  rateLimit: changed(wanted.rateLimit, before.rateLimit),
  eventsPerMonth: changed(wanted.eventsPerMonth, before.eventsPerMonth),
  ...quotasOf(before, wanted.quotas),
});

const tooMuch = (path: string[], most: number): AppError => {
  const message = `must be at most ${most}, the limit of the installation; only the operator can raise it`;
  return new AppError('invalid', `invalid request: ${path.join('.')} ${message}`, {
    fields: [{ path, message }],
  });
};

/**
 * Throws `invalid` for a limit above the installation's, unless an operator has already raised the project's limit to
 * at least that value.
 */
const checkBounds = (before: Found, wanted: ProjectSettingsChange, usual: UsualSettings): void => {
  for (const name of settableQuotas) {
    const most = Math.max(usual.quotas[name], before[columnOf(name)] ?? 0);
    if ((wanted.quotas?.[name] ?? 0) > most) throw tooMuch(['quotas', name], most);
  }
  if (usual.rateLimit === null) return;
  const most = Math.max(usual.rateLimit, before.rateLimit ?? 0);
  if ((wanted.rateLimit ?? 0) > most) throw tooMuch(['rateLimit'], most);
};

type Allowance = {
  usual: UsualSettings;
  /** True for operators, who may exceed the installation's limits. */
  isOperator: boolean;
};

/** Changes settings; settings that the request does not name stay unchanged. */
export const updateSettings = (
  db: Database,
  changer: Changer,
  projectId: string,
  wanted: ProjectSettingsChange,
  { usual, isOperator }: Allowance,
): Promise<ProjectSettingsView> =>
  change(db, changer, async ({ tx, organization, record }) => {
    await getProject(tx, organization.id, projectId);
    await lockProject(tx, projectId);
    const before = await getFound(tx, projectId);
    if (!isOperator) checkBounds(before, wanted, usual);
    await writeProjectSettings(tx, projectId, apply(before, wanted));
    const after = await getFound(tx, projectId);
    await record({
      ...{ projectId, action: 'settings.change', subject: projectId },
      ...{ before: valuesOf(before, usual), after: valuesOf(after, usual) },
    });
    return view(after, usual);
  });
