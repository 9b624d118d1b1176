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
  caller: Type.String({
    description: 'caller: the public key of this request, or the user of its token',
  }),
  mayWrite: Type.Boolean({
    description: 'whether the caller may change the contents of the project',
  }),
  worlds: Count,
  openSessions: Count,
  worldTasks: Count,
  url: Type.String({ description: "base address of the service's public API" }),
});

export const describeProject = getOperation({
  id: 'describeProject',
  summary:
    "The caller's project, the caller's permissions there, and the amount of data in the project",
  path: '/project',
  access: 'read',
  tools: [{ name: 'describe_project' }],
  answer: ProjectSummary,
});
