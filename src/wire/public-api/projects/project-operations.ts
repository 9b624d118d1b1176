/** Operation that returns the project of a key. */
import { getOperation } from '../../operation.ts';
import { Timestamp } from '../../schemas.ts';
import { Type } from '../../type.ts';

const Count = Type.Integer({ minimum: 0 });

export const ProjectSummary = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  organization: Type.Object({ id: Type.String(), name: Type.String() }),
  createdAt: Timestamp,
  caller: Type.String({ description: 'the public key, or the user of the token, of this request' }),
  mayWrite: Type.Boolean({ description: 'whether the caller may change what is in the project' }),
  worlds: Count,
  openSessions: Count,
  worldTasks: Count,
  url: Type.String({ description: 'base address of its API' }),
});

export const describeProject = getOperation({
  id: 'describeProject',
  summary: "The caller's project, its permissions there, and how much the project holds",
  path: '/project',
  access: 'read',
  tools: [{ name: 'describe_project' }],
  answer: ProjectSummary,
});
