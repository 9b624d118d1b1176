/** Labels: names that users of a world assign to its versions and remove again. */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { isLabel } from '#domain/world.ts';
import type { LabelView } from '#wire/public-api/worlds/version.ts';
import { removeLabel, setLabel } from '../../db/worlds/versions.ts';
import type { WorldParts } from '../parts.ts';
import { getVersionOf, getWorld } from './address.ts';

type Place = { projectId: string; slug: string; label: string };

/** Moves a label from the version that has it to the version that `ref` names. */
export const pinLabel = async (
  parts: WorldParts,
  { projectId, slug, label }: Place,
  ref: string,
): Promise<LabelView> => {
  if (!isLabel(label)) {
    const message = `"${label.slice(0, 64)}" is no label: it begins with a lower-case letter, and has letters, digits and inner dots, hyphens and underscores; "latest", "head" and "missing" are no labels either`;
    throw new AppError('invalid', message, { fields: [{ path: ['label'], message }] });
  }
  const world = await getWorld(parts, projectId, slug);
  const { id: versionId, number } = await getVersionOf(parts, world, ref);
  if (await setLabel(parts.db, { worldId: world.id, label, versionId })) {
    return { label, slug: world.slug, versionId, number };
  }
  throw new AppError(
    'conflict',
    `"${world.slug}" has ${limits.worldLabels} labels, the maximum: remove one first`,
  );
};

/** Removes a label. Throws `not_found` if no version of the world has it. */
export const unpinLabel = async (
  parts: WorldParts,
  { projectId, slug, label }: Place,
): Promise<void> => {
  const world = await getWorld(parts, projectId, slug);
  if (isLabel(label) && (await removeLabel(parts.db, world.id, label))) return;
  throw new AppError(
    'not_found',
    `no version of "${world.slug}" has the label "${label.slice(0, 64)}"`,
  );
};
