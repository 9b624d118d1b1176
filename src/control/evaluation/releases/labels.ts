/**
 * Moves labels of builds. To release a build is to move a label to it. If the target build was registered before the
 * present one, the move is a rollback. A rollback across a breaking change of a tool needs `force`. Moves of the same
 * label are serialized.
 */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { MoveLabelBody, ToolChangeView } from '#wire/public-api/evaluation/release.ts';
import type { Database } from '../../db/core/database.ts';
import { type BuildRow, findBuildByLabel } from '../../db/evaluation/agent-builds.ts';
import {
  findLastMove,
  type LabelMoveRow,
  lockLabel,
  putLabel,
} from '../../db/evaluation/agent-labels.ts';
import { getBuild, manifestOf } from './builds.ts';
import { toolChanges } from './manifest-changes.ts';

/**
 * Returns the tools that have a breaking change between the target build and the present one. A rollback to the target
 * would undo these changes.
 */
const brokenBy = (present: BuildRow, target: BuildRow): ToolChangeView[] =>
  toolChanges(manifestOf(target), manifestOf(present)).filter(({ breaking }) => breaking);

const refuse = (label: string, present: BuildRow, broken: readonly ToolChangeView[]): never => {
  const names = broken.map(({ name }) => `"${name}"`).join(', ');
  const message = `moving "${label}" back from ${present.id} goes across a breaking change of ${names}; give "force": true (svc: --force) to do it all the same`;
  throw new AppError('conflict', message, {
    detail: { error: 'breaking_rollback', label, buildId: present.id, tools: broken },
  });
};

type Mover = { projectId: string; publicKey: string };

/**
 * Moves a label to a build. If the build already has the label, writes nothing and returns the earlier move that
 * assigned it.
 */
export const moveLabel = async (
  db: Database,
  { projectId, publicKey }: Mover,
  buildId: string,
  body: MoveLabelBody,
): Promise<LabelMoveRow & { moved: boolean }> => {
  const { label, reason = null, actor, source = null } = body;
  const target = await getBuild(db, projectId, buildId);
  const { agentId } = target;
  return db.transaction(async (tx) => {
    await lockLabel(tx, { projectId, agentId, label });
    const present = await findBuildByLabel(tx, projectId, agentId, label);
    if (present?.id === target.id) {
      const last = await findLastMove(tx, target.id, label);
      if (last !== undefined) return { ...last, moved: false };
    }
    const isRollback = present !== undefined && target.number < present.number;
    const broken = isRollback ? brokenBy(present, target) : [];
    if (present !== undefined && broken.length > 0 && body.force !== true) {
      refuse(label, present, broken);
    }
    const move = await putLabel(tx, projectId, {
      ...{ id: newId('mov'), agentId, label, buildId, previousBuildId: present?.id ?? null },
      ...{ isRollback, isForced: broken.length > 0 },
      breaking: broken.map(({ name }) => name),
      ...{ reason, actor: actor ?? publicKey, source },
    });
    return { ...move, moved: true };
  });
};
