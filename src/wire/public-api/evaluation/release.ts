/**
 * Request and answer schemas of builds of agents: labels, agent runs, the differences between two builds, and the
 * gate's verdict.
 */
import { gateVerdicts, runStates } from '#domain/release.ts';
import { JsonObject, nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { pageOf } from '../lists.ts';

const strict = { additionalProperties: false } as const;
const Text = nullable(Type.String());
/** A name that a client gives. */
const Name = Type.String({ minLength: 1, maxLength: 256 });
const Remark = Type.String({ maxLength: 2_000 });

const Tool = Type.Object(
  { name: Name },
  {
    additionalProperties: Type.Unknown(),
    description:
      '`inputSchema` (also `input_schema`, `parameters`), `outputSchema` (also `output_schema`) and `description` are compared',
  },
);

/** Parts of a build. Unknown members are stored, too. */
const Manifest = Type.Object(
  {
    model: Type.Optional(Type.Unknown()),
    prompt: Type.Optional(Type.Unknown()),
    prompts: Type.Optional(JsonObject),
    tools: Type.Optional(Type.Array(Tool, { maxItems: 1_000 })),
  },
  { additionalProperties: Type.Unknown(), maxProperties: 1_000 },
);

/** Origin of a build. */
const Attribution = Type.Object(
  {
    commitSha: Type.Optional(
      nullable(
        Type.String({
          pattern: '^[0-9A-Fa-f]{7,64}$',
          maxLength: 64,
          description: 'commit by which the gate finds the build; best in full',
        }),
      ),
    ),
    branch: Type.Optional(nullable(Name)),
  },
  { additionalProperties: Type.Unknown(), maxProperties: 100 },
);

export const RegisterBuildBody = Type.Object(
  {
    agentId: Name,
    buildHash: Name,
    semanticVer: Type.Optional(nullable(Name)),
    manifest: Type.Optional(Manifest),
    attribution: Type.Optional(Attribution),
  },
  strict,
);
export type RegisterBuildBody = Static<typeof RegisterBuildBody>;

const listedMembers = {
  id: Type.String(),
  agentId: Type.String(),
  buildHash: Type.String(),
  semanticVer: Text,
  attribution: JsonObject,
  labels: Type.Array(Type.String(), { description: 'labels that currently point to the build' }),
  createdAt: Timestamp,
};
export const ListedBuild = Type.Object(listedMembers);
export type ListedBuild = Static<typeof ListedBuild>;
export const BuildView = Type.Object({ ...listedMembers, manifest: JsonObject });
export type BuildView = Static<typeof BuildView>;
export const BuildList = pageOf(ListedBuild);

/** Short form of a build. */
export const BuildRef = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  version: Text,
  buildHash: Type.String(),
  commitSha: Text,
  branch: Text,
});
export type BuildRef = Static<typeof BuildRef>;

const Change = oneOf(['added', 'removed', 'changed']);
const Changed = { base: Type.Unknown(), candidate: Type.Unknown() };
export const ToolChangeView = Type.Object({
  name: Type.String(),
  change: Change,
  breaking: Type.Boolean({ description: 'whether the change breaks callers of the tool' }),
  changes: Type.Array(
    Type.Object({
      part: Type.String({ description: 'changed part: inputSchema, outputSchema or description' }),
      path: Type.String({ description: 'JSON pointer into the schema that changed' }),
      change: Type.String(),
      breaking: Type.Boolean(),
    }),
  ),
});
export type ToolChangeView = Static<typeof ToolChangeView>;

export const BuildDiff = Type.Object({
  agentId: Type.String(),
  base: BuildRef,
  candidate: BuildRef,
  breaking: Type.Boolean({ description: 'whether a difference of the tools breaks their callers' }),
  tools: Type.Array(ToolChangeView, { description: 'tools that differ, by name' }),
  prompts: Type.Array(Type.Object({ name: Type.String(), change: Change, ...Changed })),
  model: Type.Object({ changed: Type.Boolean(), ...Changed }),
});
export type BuildDiff = Static<typeof BuildDiff>;

const JudgedRate = Type.Object({
  n: Type.Integer({ description: 'number of sessions whose verdict is pass or fail' }),
  passed: Type.Integer(),
  passRate: nullable(Type.Number({ description: 'pass rate; null where n is 0' })),
});
const Contrast = {
  base: JudgedRate,
  candidate: JudgedRate,
  difference: nullable(
    Type.Number({ description: 'difference of the pass rates, candidate minus base' }),
  ),
  interval: nullable(
    Type.Array(Type.Number(), {
      minItems: 2,
      maxItems: 2,
      description:
        'confidence interval of the difference, at 95 %: Newcombe’s hybrid score interval',
    }),
  ),
};
const PlayedTask = {
  world: Type.String(),
  task: nullable(Type.String({ description: 'name of the task, or id of a stored task' })),
};
const Flipped = Type.Object({ sessionId: Type.String(), verdict: oneOf(['pass', 'fail']) });

export const BuildComparison = Type.Object({
  base: BuildRef,
  candidate: BuildRef,
  total: Type.Object(Contrast, {
    description: 'totals over the tasks that both builds have played',
  }),
  tasks: Type.Array(
    Type.Object({
      ...PlayedTask,
      contentDiffers: Type.Boolean({
        description: 'true: the builds played the task with different contents',
      }),
      ...Contrast,
      checks: Type.Array(Type.Object({ name: Type.String(), ...Contrast })),
    }),
  ),
  flips: Type.Array(
    Type.Object({
      ...PlayedTask,
      base: Flipped,
      candidate: Flipped,
      checks: Type.Array(Type.String(), {
        description: 'names of the checks whose verdicts differ',
      }),
    }),
    {
      description:
        'sessions of a task, paired in their order, whose verdicts differ; the first 1,000',
    },
  ),
  flippedToPass: Type.Integer(),
  flippedToFail: Type.Integer(),
  olderLeftOut: Type.Boolean({
    description:
      'true if a build has more than 1,000 judged sessions; then only the newest are compared',
  }),
});
export type BuildComparison = Static<typeof BuildComparison>;

export const MoveLabelBody = Type.Object(
  {
    label: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
      description: 'name of the label, such as `stable`, to which the gate compares candidates',
    }),
    force: Type.Optional(
      nullable(
        Type.Boolean({ description: 'whether to roll back even across a breaking tool change' }),
      ),
    ),
    reason: Type.Optional(nullable(Remark)),
    actor: Type.Optional(nullable(Name)),
    source: Type.Optional(nullable(Name)),
  },
  strict,
);
export type MoveLabelBody = Static<typeof MoveLabelBody>;

export const LabelMove = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  label: Type.String(),
  buildId: Type.String(),
  previousBuildId: Text,
  rollback: Type.Boolean({
    description: 'whether the build was registered before the one that the label pointed to',
  }),
  forced: Type.Boolean({ description: 'whether the move was forced although it breaks callers' }),
  breaking: Type.Array(Type.String(), {
    description: 'for a rollback: tools whose earlier change by the previous build was breaking',
  }),
  reason: Text,
  actor: Type.String({
    description: 'author of the move as the client named it, or else the public key',
  }),
  source: Text,
  movedAt: Timestamp,
});
export type LabelMove = Static<typeof LabelMove>;
/**
 * A move of a label. If the label already pointed to the build, `moved` is false, and the other members are those of
 * the earlier move.
 */
export const MovedLabel = Type.Object({ ...LabelMove.properties, moved: Type.Boolean() });
export const LabelMoveList = pageOf(LabelMove);

const Rate = nullable(
  Type.Number({ description: 'share of graded rollouts that passed; null: no rollout was graded' }),
);
const Graded = Type.Integer({ description: 'number of rollouts that were graded' });
const World = nullable(Type.String({ description: 'slug of the world; null: several worlds' }));

export const RunView = Type.Object({
  runId: Type.String(),
  buildId: Type.String(),
  buildHash: Type.String(),
  agentId: Type.String(),
  state: oneOf(
    runStates,
    'INCOMPLETE: the run ended although a session has no grade, or before the planned number of sessions',
  ),
  model: Text,
  world: World,
  worlds: Type.Array(Type.String()),
  planned: nullable(Type.Integer()),
  sessions: Type.Integer(),
  graded: Graded,
  passed: Type.Integer(),
  going: Type.Integer({ description: 'number of sessions that are open and not graded' }),
  ungraded: Type.Integer({ description: 'number of sessions that ended without a grade' }),
  passRate: Rate,
  createdAt: Timestamp,
  finishedAt: nullable(Timestamp),
});
export type RunView = Static<typeof RunView>;
export const RunList = pageOf(RunView);

export const GateView = Type.Object({
  build: BuildRef,
  gate: Type.Object({
    verdict: oneOf(gateVerdicts),
    passRate: Rate,
    gradedRollouts: Type.Integer(),
    threshold: Type.Number(),
    minGradedRollouts: Type.Integer(),
    reasons: Type.Array(Type.String(), { description: 'reasons why the gate is closed' }),
  }),
  evaluatedRuns: Type.Array(
    Type.Object({
      runId: Type.String(),
      world: World,
      state: oneOf(runStates),
      model: Text,
      passRate: Rate,
      graded: Graded,
    }),
    {
      description:
        'runs of this build, and of other builds of the agent from the same commit, newest first',
    },
  ),
  comparedTo: nullable(Type.Object({ stableBuildId: Type.String(), stableVersion: Text })),
});
export type GateView = Static<typeof GateView>;

/** Agent run for which a session is opened. */
export const RunOfSession = Type.Object(
  {
    id: Name,
    buildHash: Name,
    model: Type.Optional(nullable(Name)),
    planned: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          description: 'planned number of rollouts; the run is open until that many are done',
        }),
      ),
    ),
  },
  {
    ...strict,
    description:
      "the agent run, and thus the agent's build, that this session is a rollout of, for the release gate",
  },
);
export type RunOfSession = Static<typeof RunOfSession>;
