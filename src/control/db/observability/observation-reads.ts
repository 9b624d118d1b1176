/** Reads observations: lists, counts, single observations, and the observations of traces. */
import { limits } from '#domain/limits.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { usualLevel } from '#observability/object.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { updatedText, wholeWithHeavy, withHeavy, withoutHeavy } from '../core/heavy-pages.ts';
import type { Count } from '../core/lists.ts';
import { utcText } from '../core/times.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';
import { keyOf } from './trace-keys.ts';

/** Observation as clients see it. Its times have the form that `isoOf` takes. */
export type ObservationRow = {
  id: string;
  traceId: string;
  parentId: string | null;
  type: string;
  name: string | null;
  /** Environment; null for the default environment. */
  environment: string | null;
  startTime: string;
  endTime: string | null;
  completionStartTime: string | null;
  /** Level; null for the default level. */
  level: string | null;
  statusMessage: string | null;
  version: string | null;
  model: string | null;
  modelParametersJson: string | null;
  usageJson: string | null;
  costJson: string | null;
  /**
   * Totals of the reported usage and cost, or of the computed cost. Usage is text, because the driver returns bigint as
   * text. Null if unknown.
   */
  inputUsage: string | null;
  outputUsage: string | null;
  totalUsage: string | null;
  /** Costs in dollars; null if unknown. */
  inputCost: number | null;
  outputCost: number | null;
  totalCost: number | null;
  promptName: string | null;
  promptVersion: number | null;
  /** Id of the prompt's version in this project; null if the project has no such prompt or version. */
  promptId: string | null;
  pricingJson: string | null;
  createdAt: string;
  /** Time of the last update; null if the observation was not updated since its creation. */
  updatedAt: string | null;
  input: string | null;
  output: string | null;
  metadata: string | null;
  /**
   * True if the large columns were left out because the page had reached its byte limit; null if the row is complete.
   */
  isCut: boolean | null;
};

/** Observation with those columns of its trace that lists show; they are null if the trace is not stored. */
export type ListedObservationRow = ObservationRow & {
  userId: string | null;
  sessionId: string | null;
  traceName: string | null;
  release: string | null;
  tags: string[] | null;
  isPublic: boolean | null;
};

/**
 * SQL for the id of the prompt version that a row names. The inner columns are renamed, so that unqualified names refer
 * to the row.
 */
const promptId = `case when prompt_name is not null then (
    select v.id from context_versions v
      join (select key, project_id as of_project, kind, name as repo_name from context_repos) r on r.key = v.repo_key
     where of_project = project_id and kind = 'prompts' and repo_name = prompt_name and v.version = prompt_version) end`;

const plain = `id, trace_id as "traceId", parent_id as "parentId", type, name,
  nullif(environment, '${usualEnvironment}') as environment, ${utcText('began_at')} as "startTime",
  ${utcText('end_time')} as "endTime", ${utcText('completion_start_time')} as "completionStartTime", nullif(level, '${usualLevel}') as level,
  status_message as "statusMessage", version, model, model_parameters as "modelParametersJson",
  usage as "usageJson", cost as "costJson", input_usage as "inputUsage", output_usage as "outputUsage", total_usage as "totalUsage",
  input_cost as "inputCost", output_cost as "outputCost", total_cost as "totalCost", prompt_name as "promptName", prompt_version as "promptVersion",
  ${promptId} as "promptId", pricing as "pricingJson",
  ${utcText('created_at')} as "createdAt", ${updatedText} as "updatedAt"`;

const listed = `${plain}, of_user as "userId", of_session as "sessionId", of_name as "traceName",
  of_release as release, of_tags as tags, of_public as "isPublic"`;

const ofTrace = `t.user_id as of_user, t.session_id as of_session, t.name as of_name, t.release as of_release,
  t.tags as of_tags, t.is_public as of_public`;

const whole = withHeavy(listed, limits.pageBytes);
const light = withoutHeavy(listed);

/** Join of an observation `o` with its trace `t`, for conditions on either of them. */
const joined = 'observations o left join traces t on t.key = o.trace_key';
const byTime = 'o.began_at desc, o.key desc';

export type ObservationList = {
  conditions: readonly Condition[];
  limit: number;
  offset: number;
  hasHeavy: boolean;
};

/** Lists a page of observations, latest first. */
export const listObservations = async (
  db: Database,
  projectId: string,
  { conditions, limit, offset, hasHeavy }: ObservationList,
): Promise<ListedObservationRow[]> => {
  const { statement: made, values } = conditioned(
    'list_observations',
    (where, bind) =>
      `with paged as (
         select o.*, ${ofTrace}, row_number() over (order by ${byTime}) as place from ${joined} where ${where}
          order by ${byTime} limit ${bind(limit)} offset ${bind(offset)}
       ) ${hasHeavy ? whole : light}`,
    [(bind) => `o.project_id = ${bind(projectId)}`, ...conditions],
  );
  return db.query<ListedObservationRow>(made, values);
};

const isOfTrace = (condition: Condition): boolean => /\bt\./.test(condition(() => ''));

/**
 * Counts the matching observations, up to a bound. Traces are joined only if a condition refers to them, because
 * without the join an index alone is enough.
 */
export const countObservations = (
  db: Database,
  projectId: string,
  conditions: readonly Condition[],
): Promise<Count> =>
  countUpTo(db, 'count_observations', conditions.some(isOfTrace) ? joined : 'observations o', [
    (bind) => `o.project_id = ${bind(projectId)}`,
    ...conditions,
  ]);

const findStatement = statement(
  'find_observation',
  `with paged as (
     select o.*, ${ofTrace}, 1 as place from ${joined} where o.key = $1 order by o.created_at limit 1
   ) ${whole}`,
);

/** Returns the observation with this id; undefined if there is none. */
export const findObservation = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ListedObservationRow | undefined> =>
  (await db.query<ListedObservationRow>(findStatement, [keyOf(projectId, id)]))[0];

/**
 * Maximum number of observations that are returned when whole traces are read. The next constant is the maximum size of
 * their large columns, in bytes.
 */
const mostOfTraces = 100_000;
const traceBytes = 64 * 1024 * 1024;

const ofTracesStatement = statement(
  'list_observations_of_traces',
  wholeWithHeavy(plain, {
    from: 'observations where trace_key = any($1::uuid[]) and week = any($2::integer[])',
    order: 'began_at, key',
    most: mostOfTraces,
    bytes: traceBytes,
  }),
);

/** Passes the observations of traces to `take`, earliest first. */
export const eachObservationOf = (
  db: Database,
  traces: readonly { key: string; week: number }[],
  take: (row: ObservationRow) => void,
): Promise<void> => {
  const weeks = [...new Set(traces.map(({ week }) => week))];
  return db.each(ofTracesStatement, [traces.map(({ key }) => key), weeks], take);
};
