/** Model of the world that the page shows. The compiler writes the model; entities are looked up by name. */
import type { PageEntity, PageField, PageModel } from '#language/artifacts/page/model.ts';

export type {
  PageEntity,
  PageField,
  PageModel,
  PageRoute,
} from '#language/artifacts/page/model.ts';

export type Row = Record<string, unknown>;

let model: PageModel | undefined;

/** Sets the model. It must be called once, before anything is rendered. */
export const setModel = (given: PageModel): void => {
  model = given;
};

export const world = (): PageModel => {
  if (model === undefined) throw new Error('the world was not read yet');
  return model;
};

/** Returns an entity; undefined if the world does not have it. */
export const findEntity = (name: string): PageEntity | undefined =>
  world().entities.find((entity) => entity.name === name);

export const fieldOf = (entity: PageEntity, name: string): PageField | undefined =>
  entity.fields.find((field) => field.name === name);

/** Returns the entity that a single field refers to. */
export const targetOf = (entity: PageEntity, field: string): PageEntity | undefined => {
  const found = entity.references.find(({ fields }) => fields.length === 1 && fields[0] === field);
  return found === undefined ? undefined : findEntity(found.target);
};

const readModel = async (address: string, integrity: string): Promise<PageModel> => {
  const response = await fetch(address, { integrity });
  if (!response.ok) throw new Error(`${address} was answered ${response.status}`);
  return (await response.json()) as PageModel;
};

/** Loads the world's model from the address in the document. */
export const loadModel = async ({ dataset }: HTMLElement): Promise<PageModel> => {
  const loaded = await readModel(dataset.model ?? '', dataset.integrity ?? '');
  setModel(loaded);
  return loaded;
};
