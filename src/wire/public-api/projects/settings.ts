/** Request and answer schemas of the settings and quotas of a project, with their defaults. */
import { browserTiers } from '#domain/session.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';

const Most = Type.Integer({ minimum: 1, maximum: 2_000_000_000 });
const strict = { additionalProperties: false } as const;

/** Quotas of a project, under the names that their errors use. */
const quotas = {
  sessions: Most,
  opensPerMinute: Most,
  callsPerMinute: Most,
  queuedCalls: Most,
  worlds: Most,
  blobMib: Most,
  ledgerMib: Most,
  links: Most,
};
export type SettableQuota = keyof typeof quotas;
export const settableQuotas = Object.keys(quotas) as SettableQuota[];

export const QuotasView = Type.Object(quotas);
export type QuotasView = Static<typeof QuotasView>;

const optionalQuotas = Object.fromEntries(
  settableQuotas.map((name) => [name, Type.Optional(nullable(Most))]),
) as {
  [Name in SettableQuota]: ReturnType<
    typeof Type.Optional<ReturnType<typeof nullable<typeof Most>>>
  >;
};

/** Change of quotas; null resets a quota to the installation's default. */
export const QuotasChange = Type.Object(optionalQuotas, { ...strict, minProperties: 1 });
export type QuotasChange = Static<typeof QuotasChange>;

export const ProjectSettingsView = Type.Object({
  webhookPush: Type.Boolean({
    description: 'whether the service posts the webhook deliveries of sessions',
  }),
  webhookPushSince: nullable(Timestamp),
  sessionTraces: Type.Boolean({
    description: 'whether the service reports new sessions as traces of the project',
  }),
  browserTier: oneOf(browserTiers, 'browser tier of sessions that name none'),
  gate: Type.Object({
    threshold: Type.Number({ description: 'minimum pass rate at which the release gate opens' }),
    floor: Type.Integer({
      description: 'minimum number of graded rollouts that the release gate requires',
    }),
  }),
  rateLimit: nullable(
    Type.Integer({
      description: 'maximum number of requests a minute for each key or token; null: no limit',
    }),
  ),
  eventsPerMonth: nullable(
    Type.Integer({ description: 'maximum number of ingested events in a month; null: no limit' }),
  ),
  quotas: QuotasView,
  set: Type.Array(Type.String(), {
    description: 'names of the settings that the project overrides, such as `quotas.sessions`',
  }),
});
export type ProjectSettingsView = Static<typeof ProjectSettingsView>;

/** Change of settings. Absent settings stay as they are; null resets one to its default. */
export const ProjectSettingsChange = Type.Object(
  {
    webhookPush: Type.Optional(Type.Boolean()),
    sessionTraces: Type.Optional(Type.Boolean()),
    browserTier: Type.Optional(nullable(oneOf(browserTiers))),
    gate: Type.Optional(
      Type.Object(
        {
          threshold: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
          floor: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
        },
        { ...strict, minProperties: 1 },
      ),
    ),
    rateLimit: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 10_000_000 }))),
    eventsPerMonth: Type.Optional(nullable(Most)),
    quotas: Type.Optional(QuotasChange),
  },
  { ...strict, minProperties: 1 },
);
export type ProjectSettingsChange = Static<typeof ProjectSettingsChange>;
