/** Request and answer schemas of task sets, which are lists of stored tasks. */
import { dashboardLimits } from '#domain/dashboard.ts';
import { limits } from '#domain/limits.ts';
import { nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { pageOf } from '../lists.ts';

const TaskId = Type.String({ minLength: 1, maxLength: limits.idChars });

export const TaskSetView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  taskIds: Type.Array(Type.String(), {
    description: 'ids of the stored tasks, in the order of the set; deleted tasks are left out',
  }),
  createdAt: Timestamp,
});
export type TaskSetView = Static<typeof TaskSetView>;

export const TaskSetBody = Type.Object(
  {
    name: Type.String({ maxLength: 10_000, description: 'name, unique in the project' }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    taskIds: Type.Array(TaskId, {
      minItems: 1,
      maxItems: dashboardLimits.tasksOfSet,
      description: 'ids of stored tasks of the project, each once',
    }),
  },
  { additionalProperties: false },
);
export type TaskSetBody = Static<typeof TaskSetBody>;

export const TaskSetParams = Type.Object({ taskSetId: TaskId });
export const TaskSetList = pageOf(TaskSetView);
