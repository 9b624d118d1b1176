/** Operations on builds of agents: their labels, the difference between two, the release gate, and agent runs. */
import { operation } from '../../operation.ts';
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
const anyBuild = 'an id, a buildHash, a label or a version; of several of a version the newest';
const AnyBuild = Type.String({ minLength: 1, maxLength: 256, description: anyBuild });

export const registerBuild = operation({
  id: 'registerBuild',
  summary: 'Register a build; one that is there by its buildHash is answered',
  method: 'POST',
  path: '/agent-builds',
  access: 'write',
  body: RegisterBuildBody,
  answers: { 200: BuildView, 201: BuildView },
  refusals: { 409: 'The buildHash was registered with other content.' },
});

export const listBuilds = operation({
  id: 'listBuilds',
  summary: 'Builds, newest first, without their manifests',
  method: 'GET',
  path: '/agent-builds',
  access: 'inspect',
  query: Type.Object({ ...CursorQuery, agentId: Type.Optional(Given) }),
  answers: { 200: BuildList },
});

export const getBuild = operation({
  id: 'getBuild',
  summary: 'A build with its manifest',
  method: 'GET',
  path: '/agent-builds/{buildId}',
  access: 'inspect',
  unknown: 'ignored',
  params: BuildParams,
  answers: { 200: BuildView },
});

export const resolveBuild = operation({
  id: 'resolveBuild',
  summary: 'The build that a label of an agent is on',
  method: 'GET',
  path: '/agent-builds/resolve',
  access: 'inspect',
  query: Type.Object({ agentId: Given, label: Given }),
  answers: { 200: BuildView },
});

export const diffBuilds = operation({
  id: 'diffBuilds',
  summary: 'What differs between two builds of an agent: tools, prompts, model',
  method: 'GET',
  path: '/agent-builds/diff',
  access: 'inspect',
  query: Type.Object({ agentId: Given, base: AnyBuild, candidate: AnyBuild }),
  answers: { 200: BuildDiff },
});

export const compareBuilds = operation({
  id: 'compareBuilds',
  summary:
    'Pass rates of two builds by task and check, their differences with intervals, and the sessions that flipped',
  method: 'GET',
  path: '/agent-builds/compare',
  access: 'inspect',
  query: Type.Object({
    agentId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description: 'with it, builds can be named by label or version, too',
      }),
    ),
    base: AnyBuild,
    candidate: AnyBuild,
  }),
  answers: { 200: BuildComparison },
});

export const moveLabel = operation({
  id: 'moveBuildLabel',
  summary:
    'Put a label on a build: a release; rolling back across a breaking tool change is forced',
  method: 'POST',
  path: '/agent-builds/{buildId}/labels',
  access: 'write',
  params: BuildParams,
  body: MoveLabelBody,
  answers: { 200: MovedLabel },
  refusals: { 409: 'It would roll back across a breaking tool change; `force` does it.' },
});

export const listLabelMoves = operation({
  id: 'listBuildLabelMoves',
  summary: 'Moves of labels onto a build and off it, newest first',
  method: 'GET',
  path: '/agent-builds/{buildId}/labels',
  access: 'inspect',
  params: BuildParams,
  query: Type.Object(CursorQuery),
  answers: { 200: LabelMoveList },
});

export const getGate = operation({
  id: 'getBuildGate',
  summary: 'What the release gate says of a build',
  method: 'GET',
  path: '/agent-builds/{buildId}/gate',
  access: 'inspect',
  unknown: 'ignored',
  params: BuildParams,
  answers: { 200: GateView },
});

export const findGate = operation({
  id: 'findBuildGate',
  summary: 'The same by agentId and version, or by commitSha: name the build exactly one way',
  method: 'GET',
  path: '/agent-builds/gate',
  access: 'inspect',
  query: Type.Object({
    agentId: Type.Optional(Given),
    version: Type.Optional(Given),
    commitSha: Type.Optional(
      Type.String({
        maxLength: 64,
        pattern: '^[0-9A-Fa-f]{7,64}$',
        description: 'in full, or the first 7 or more digits; of several builds the newest',
      }),
    ),
  }),
  answers: { 200: GateView },
});

export const listAgentRuns = operation({
  id: 'listAgentRuns',
  summary: 'Runs of builds, newest first, and how they stand',
  method: 'GET',
  path: '/agent-runs',
  access: 'inspect',
  query: Type.Object({ ...CursorQuery, buildId: Type.Optional(Given) }),
  answers: { 200: RunList },
});

export const getAgentRun = operation({
  id: 'getAgentRun',
  summary: 'A run of a build, and how it stands',
  method: 'GET',
  path: '/agent-runs/{agentRunId}',
  access: 'inspect',
  unknown: 'ignored',
  params: RunParams,
  answers: { 200: RunView },
});

export const finishAgentRun = operation({
  id: 'finishAgentRun',
  summary: 'Say that no session is to come in a run, whatever it planned',
  method: 'POST',
  path: '/agent-runs/{agentRunId}/finish',
  access: 'write',
  params: RunParams,
  answers: { 200: RunView },
});
