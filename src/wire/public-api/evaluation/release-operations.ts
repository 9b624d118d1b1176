/**
 * Operations on builds of agents: their labels, the differences between two builds, the release gate, and agent runs.
 */
import { getOperation, operation } from '../../operation.ts';
import { Type } from '../../type.ts';
import { CursorQuery } from '../lists.ts';
import {
  BuildComparison,
  BuildDiff,
  BuildList,
  BuildView,
  GateView,
  LabelMoveList,
  MovedLabel,
  MoveLabelBody,
  RegisterBuildBody,
  RunList,
  RunView,
} from './release.ts';

const Given = Type.String({ minLength: 1, maxLength: 256 });
const BuildParams = Type.Object({ buildId: Given });
const RunParams = Type.Object({ agentRunId: Given });
const anyBuild =
  'an id, a buildHash, a label or a version of a build; if several builds have the version, the newest';
const AnyBuild = Type.String({ minLength: 1, maxLength: 256, description: anyBuild });

export const registerBuild = operation({
  id: 'registerBuild',
  summary:
    'Register a build; if its buildHash is registered already, the existing build is returned',
  method: 'POST',
  path: '/agent-builds',
  access: 'write',
  body: RegisterBuildBody,
  answers: { 200: BuildView, 201: BuildView },
  refusals: { 409: 'The buildHash was registered with other content.' },
});

export const listBuilds = getOperation({
  id: 'listBuilds',
  summary: 'Builds, newest first, without their manifests',
  path: '/agent-builds',
  access: 'inspect',
  query: Type.Object({ ...CursorQuery, agentId: Type.Optional(Given) }),
  answer: BuildList,
});

export const getBuild = getOperation({
  id: 'getBuild',
  summary: 'A build with its manifest',
  path: '/agent-builds/{buildId}',
  access: 'inspect',
  unknown: 'ignored',
  params: BuildParams,
  answer: BuildView,
});

export const resolveBuild = getOperation({
  id: 'resolveBuild',
  summary: 'The build that a label of an agent points to',
  path: '/agent-builds/resolve',
  access: 'inspect',
  query: Type.Object({ agentId: Given, label: Given }),
  answer: BuildView,
});

export const diffBuilds = getOperation({
  id: 'diffBuilds',
  summary: 'The differences between two builds of an agent: tools, prompts, model',
  path: '/agent-builds/diff',
  access: 'inspect',
  query: Type.Object({ agentId: Given, base: AnyBuild, candidate: AnyBuild }),
  answer: BuildDiff,
});

export const compareBuilds = getOperation({
  id: 'compareBuilds',
  summary:
    'Pass rates of two builds by task and check, their differences with confidence intervals, and the sessions whose verdicts differ',
  path: '/agent-builds/compare',
  access: 'inspect',
  query: Type.Object({
    agentId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'id of the agent; if given, builds can be named by label or version, too',
      }),
    ),
    base: AnyBuild,
    candidate: AnyBuild,
  }),
  answer: BuildComparison,
});

export const moveLabel = operation({
  id: 'moveBuildLabel',
  summary:
    'Release a build by putting a label on it; a rollback across a breaking tool change needs `force`',
  method: 'POST',
  path: '/agent-builds/{buildId}/labels',
  access: 'write',
  params: BuildParams,
  body: MoveLabelBody,
  answers: { 200: MovedLabel },
  refusals: { 409: 'The move would roll back across a breaking tool change; `force` allows it.' },
});

export const listLabelMoves = getOperation({
  id: 'listBuildLabelMoves',
  summary: 'The moves of labels to and from a build, newest first',
  path: '/agent-builds/{buildId}/labels',
  access: 'inspect',
  params: BuildParams,
  query: Type.Object(CursorQuery),
  answer: LabelMoveList,
});

export const getGate = getOperation({
  id: 'getBuildGate',
  summary: 'The state of the release gate for a build',
  path: '/agent-builds/{buildId}/gate',
  access: 'inspect',
  unknown: 'ignored',
  params: BuildParams,
  answer: GateView,
});

export const findGate = getOperation({
  id: 'findBuildGate',
  summary:
    'The state of the release gate for the build named by agentId and version, or else by commitSha',
  path: '/agent-builds/gate',
  access: 'inspect',
  query: Type.Object({
    agentId: Type.Optional(Given),
    version: Type.Optional(Given),
    commitSha: Type.Optional(
      Type.String({
        maxLength: 64,
        pattern: '^[0-9A-Fa-f]{7,64}$',
        description:
          'in full, or its first 7 or more digits; if several builds match, the newest is used',
      }),
    ),
  }),
  answer: GateView,
});

export const listAgentRuns = getOperation({
  id: 'listAgentRuns',
  summary: 'Agent runs with their progress, newest first',
  path: '/agent-runs',
  access: 'inspect',
  query: Type.Object({ ...CursorQuery, buildId: Type.Optional(Given) }),
  answer: RunList,
});

export const getAgentRun = getOperation({
  id: 'getAgentRun',
  summary: 'An agent run with its progress',
  path: '/agent-runs/{agentRunId}',
  access: 'inspect',
  unknown: 'ignored',
  params: RunParams,
  answer: RunView,
});

export const finishAgentRun = operation({
  id: 'finishAgentRun',
  summary: 'Finish an agent run: no more sessions are opened in it, even if more were planned',
  method: 'POST',
  path: '/agent-runs/{agentRunId}/finish',
  access: 'write',
  params: RunParams,
  answers: { 200: RunView },
});
