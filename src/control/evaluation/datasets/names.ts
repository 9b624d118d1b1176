/** Finds the dataset that a request names. */
import { AppError } from '#domain/error.ts';
import type { Queryable } from '../../db/core/database.ts';
import { type DatasetRow, findDataset } from '../../db/evaluation/datasets.ts';
import { findNamed } from '../../platform/lists/names.ts';

export const noDataset = (): AppError => new AppError('not_found', 'Dataset not found');

/** Returns the dataset with this name; throws `not_found`. */
export const getDataset = async (
  db: Queryable,
  projectId: string,
  name: string,
): Promise<DatasetRow> => {
  const found = await findNamed(name, (each) => findDataset(db, projectId, each));
  if (found === undefined) throw noDataset();
  return found;
};
